"""Measures a store in a file, on one server and on three servers, with the files of a folder.

.ci/server python3 benches/servers/servers.py FOLDER [--program PATH] [--clients 1,8,64] [--growth 1,4,16]

Prints the time and the size of an ingest, and the times of calls of `mdsel mcp` by several clients at once. A
client is a process that keeps its connection. `rg` searches the files for the same patterns, as a new process
each time.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "src/reference/servers.md"
SUFFIXES = {".md", ".markdown", ".mdx"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--program", default="target/release/mdsel", help="built with the feature postgres")
    parser.add_argument("--clients", default="1,8,64")
    parser.add_argument("--calls", type=int, default=200, help="calls of each kind, of all clients together")
    parser.add_argument("--growth", default="1", help="numbers of copies of the folder")
    return parser.parse_args()


def statements(schema, part, port):
    """The statements of the reference that let another server hold a partition."""
    text = PAGE.read_text().split("```sql\n")[1].split("```")[0]
    for old, new in [
        ("second.example.org", "127.0.0.1"),
        ("5432", port),
        ("notes", "mdsel"),
        ("second", f"{schema}_{part}"),
        ("mdsel.%", f"{schema}.%"),
        ("ann", "postgres"),
        ("ARRAY[2]", f"ARRAY[{part}]"),
    ]:
        text = text.replace(old, new)
    return text


class Stores:
    def __init__(self, program, scratch):
        self.program = program
        self.scratch = scratch
        self.first = os.environ["MDSEL_POSTGRES"]
        self.nodes = os.environ["MDSEL_POSTGRES_NODES"].split()
        self.psql = Path(os.environ["MDSEL_POSTGRES_BIN"]) / "psql"

    def sql(self, url, text):
        command = [self.psql, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url]
        return subprocess.run(command, input=text, text=True, check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout

    def file(self):
        return str(self.scratch / "store.db")

    def one(self):
        return f"{self.first}?schema=one"

    def three(self):
        empty = self.scratch / "empty"
        empty.mkdir(exist_ok=True)
        for url in [self.first, *self.nodes]:
            command = [self.program, "ingest", "--root", empty, empty, "--db", f"{url}?schema=three"]
            subprocess.run(command, check=True, capture_output=True)
        for part, url in zip((2, 3), self.nodes):
            port = url.rsplit(":", 1)[1].split("/")[0]
            self.sql(self.first, statements("three", part, port))
        return f"{self.first}?schema=three"

    def size(self, db):
        if not db.startswith("postgres"):
            files = [Path(db), *Path(db + "-fts").rglob("*")]
            return sum(file.stat().st_size for file in files if file.is_file())
        schema = db.rsplit("=", 1)[1]
        query = ("SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c "
                 f"WHERE c.relnamespace = to_regnamespace('{schema}') AND c.relkind = 'r'")
        return sum(int(self.sql(url, query)) for url in [self.first, *self.nodes])

    def drop(self):
        for url in [self.first, *self.nodes]:
            self.sql(url, "DROP SCHEMA IF EXISTS one CASCADE; DROP SCHEMA IF EXISTS three CASCADE;"
                          "DROP SERVER IF EXISTS three_2 CASCADE; DROP SERVER IF EXISTS three_3 CASCADE")
        for path in self.scratch.glob("store.db*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def questions(folder, files):
    """Calls of each kind, taken from random documents."""
    chosen = random.Random(5)
    words, rare, common = [], [], []
    sample = chosen.sample(files, min(400, len(files)))
    for path in sample:
        text = (folder / path).read_text(errors="ignore")
        lines = [line for line in text.splitlines() if len(line) > 30]
        found = re.findall(r"[a-z]{4,}", " ".join(lines[:5]))
        if len(found) < 3:
            continue
        words.append(" ".join(chosen.sample(found, 2)))
        line = chosen.choice(lines)
        start = chosen.randrange(len(line) - 20)
        rare.append(re.escape(line[start:start + 16]) + ".")
        common.append(chosen.choice(["the", "is", "to", "in"]) + " [a-z]+" + chosen.choice(["ing", "ed", "s"]))
    pick = lambda values: lambda index: values[index % len(values)]
    word, one, many, file = pick(words), pick(rare), pick(common), pick(sample)
    return {
        "words": lambda index: ("search", {"queries": [word(index)]}),
        "rare pattern": lambda index: ("search", {"patterns": [one(index)]}),
        "common pattern": lambda index: ("search", {"patterns": [many(index)]}),
        "section": lambda index: ("read", {"addresses": [file(index) + "::root"]}),
        "headings": lambda index: ("overview", {"documents": [file(index)]}),
        "links": lambda index: ("neighbors", {"address": file(index) + "::root", "links": "both"}),
    }


class Client:
    """A process of `mdsel mcp`."""

    def __init__(self, program, db):
        self.process = subprocess.Popen([program, "mcp", "--db", db], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.number = 0
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.ask("initialize", about)
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, parameters):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": parameters})
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.number:
                return answer

    def call(self, tool, parameters):
        answer = self.ask("tools/call", {"name": tool, "arguments": parameters})
        assert "result" in answer and not answer["result"].get("isError"), answer

    def close(self):
        self.process.kill()
        self.process.wait()


def at_once(count, calls, act):
    """Lets `count` threads call `act(thread, index)`, and returns the seconds of each call, sorted."""
    times = []

    def work(thread):
        for index in range(max(2, calls // count)):
            started = time.perf_counter()
            act(thread, thread * 131 + index * 7)
            times.append(time.perf_counter() - started)

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(count)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    return sorted(times)


def quantiles(times):
    at = lambda share: times[min(len(times) - 1, int(len(times) * share))] * 1000
    return f"{at(0.5):.1f} / {at(0.99):.0f}"


def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def measure(options, folder, files, stores, clients):
    bytes_of_files = sum((folder / file).stat().st_size for file in files)
    print(f"\n{len(files):,} documents, {bytes_of_files / 1e6:.1f} MB\n")
    row("store", "ingest, s", "MB/s", "disk / documents")
    row("---", "---", "---", "---")
    dbs = {"file": stores.file(), "one server": stores.one(), "three servers": stores.three()}
    for name, db in dbs.items():
        started = time.perf_counter()
        command = [options.program, "ingest", "--db", db, "--root", folder, folder]
        subprocess.run(command, check=True, capture_output=True)
        seconds = time.perf_counter() - started
        size = stores.size(db) / bytes_of_files
        row(name, f"{seconds:.1f}", f"{bytes_of_files / 1e6 / seconds:.1f}", f"{size:.2f}")
    print("\nMilliseconds of a call: the median / the 99th of 100.\n")
    row("question", "store", *(f"{count} clients" for count in clients))
    row("---", "---", *("---" for _ in clients))
    asked = questions(folder, files)
    for kind, question in asked.items():
        for name, db in dbs.items():
            cells = []
            for count in clients:
                processes = [Client(options.program, db) for _ in range(count)]
                act = lambda thread, index: processes[thread].call(*question(index))
                # The first call of each client opens the connections.
                at_once(count, count, act)
                cells.append(quantiles(at_once(count, options.calls, act)))
                [process.close() for process in processes]
            row(kind, name, *cells)
        if "pattern" in kind and shutil.which("rg"):
            pattern = lambda index: question(index)[1]["patterns"][0]
            rg = lambda _, index: subprocess.run(["rg", "-m", "20", "-e", pattern(index), folder], capture_output=True)
            row(kind, "rg", *(quantiles(at_once(count, options.calls // 4, rg)) for count in clients))
    stores.drop()


def main():
    options = arguments()
    if "MDSEL_POSTGRES_NODES" not in os.environ:
        sys.exit("run this as: .ci/server python3 benches/servers/servers.py FOLDER")
    clients = [int(count) for count in options.clients.split(",")]
    found = sorted(path for path in options.folder.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
    with tempfile.TemporaryDirectory() as scratch:
        stores = Stores(options.program, Path(scratch))
        for copies in map(int, options.growth.split(",")):
            folder = Path(scratch) / "files"
            files = []
            for copy in range(copies):
                for path in found:
                    name = Path(f"copy{copy}") / path.relative_to(options.folder)
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    if not (folder / name).exists():
                        shutil.copyfile(path, folder / name)
                    files.append(str(name))
            measure(options, folder, files, stores, clients)


main()
