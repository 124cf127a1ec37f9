"""Tests `mdsel mcp` with two concurrent clients of the official SDK: every tool, the resources, and an edit.

Usage: mcp_client.py PROGRAM FOLDER. FOLDER contains Markdown files and their store.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import time

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

PROGRAM, FOLDER = sys.argv[1:3]
TOOLS = ["overview", "find", "search", "read", "neighbors", "query", "context", "edit"]


def body(result):
    """The text between the marks of a reply."""
    lines = result.content[0].text.split("\n")
    assert lines[0].startswith("<<mdsel "), lines[0]
    name = lines[0].split()[1].rstrip(":")
    return "\n".join(lines[1 : lines.index(f"<<mdsel {name}>>")])


async def ask(name, allow_write):
    arguments = ["mcp", "-f", "json"] + (["--allow-write"] if allow_write else [])
    server = StdioServerParameters(command=PROGRAM, args=arguments, cwd=FOLDER)
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        greeting = await session.initialize()
        assert greeting.server_info.name == "mdsel" and greeting.instructions
        tools = (await session.list_tools()).tools
        assert [tool.name for tool in tools] == (TOOLS if allow_write else TOOLS[:-1])

        async def call(tool, **arguments):
            result = await session.call_tool(tool, arguments)
            assert not result.is_error, (tool, arguments, result.content[0].text)
            return body(result)

        totals = json.loads(await call("overview"))["totals"]
        assert totals["documents"] > 10
        assert json.loads(await call("overview", documents=["guide.md"]))["sections"]
        found = json.loads(await call("find", pattern="install"))["matches"]
        hits = json.loads(await call("search", query="install cargo"))["hits"]
        assert found and hits
        for place in (found[0]["selector"], hits[0]["selector"]):
            text = json.loads(await call("read", addresses=[place]))["results"][0]["content"]
            assert text, place
        assert json.loads(await call("neighbors", address="guide.md#options"))["parent"]
        assert json.loads(await call("query", kind="code"))["code"]
        assert json.loads(await call("neighbors", address="guide.md", links="in"))["edges"]
        assert "B-END" in await call("context", query="install", with_body=True, format="records")

        resources = (await session.list_resources()).resources
        assert len(resources) >= 10
        guide = next(resource for resource in resources if resource.name == "guide.md")
        contents = (await session.read_resource(guide.uri)).contents
        assert "## Install" in contents[0].text
        assert (await session.list_resource_templates()).resource_templates

        missing = await session.call_tool("read", {"addresses": ["none.md"]})
        assert missing.is_error and "SELECTOR_NOT_FOUND" in missing.content[0].text
        unknown = await session.call_tool("read", {"adresses": ["guide.md"]})
        assert unknown.is_error and "adresses" in unknown.content[0].text

        if allow_write:
            edit = {"operation": "insert", "section": "Options", "position": "before"}
            edit["content"] = f"### Of {name}"
            made = await call("edit", document="guide.md", edits=[edit])
            assert json.loads(made)["success"]
            assert json.loads(await call("find", pattern=f"Of {name}"))["matches"]

        # 300 calls one after the other, then 50 at the same time.
        times = []
        for _ in range(300):
            began = time.perf_counter()
            await call("search", query="install cargo")
            times.append((time.perf_counter() - began) * 1000)
        await asyncio.gather(*(call("read", addresses="guide.md#install") for _ in range(50)))
        return times


def fresh(count):
    """The times, in milliseconds, of new processes that answer the same query."""
    times = []
    for _ in range(count):
        began = time.perf_counter()
        command = [PROGRAM, "search", "install cargo"]
        subprocess.run(command, cwd=FOLDER, check=True, stdout=subprocess.DEVNULL)
        times.append((time.perf_counter() - began) * 1000)
    return times


def report(what, times):
    centiles = statistics.quantiles(times, n=100)
    print(f"{what}: median {statistics.median(times):.2f} ms, p99 {centiles[98]:.2f} ms")


async def main():
    both = await asyncio.gather(ask("one", True), ask("two", False))
    report("a warm call, two concurrent clients", both[0] + both[1])
    report("a new process", fresh(100))


asyncio.run(main())
