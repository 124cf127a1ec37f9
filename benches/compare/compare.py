"""mdsel beside other programs on the same files: whole processes in alternation, medians and ratios.

compare.py FOLDER [--mdsel PROGRAM] [--runs N] [--only WORD]

FOLDER is left as it is: stores are made in a temporary folder. A peer that is not installed is left
out. A ratio is the median over the runs of mdsel's time over the peer's in the same pair.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def run(command):
    start = time.perf_counter()
    subprocess.run(command, shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def size(*paths):
    total = 0
    for path in paths:
        for base, _, names in os.walk(path):
            total += sum(os.path.getsize(os.path.join(base, name)) for name in names)
        total += os.path.getsize(path) if os.path.isfile(path) else 0
    return total


def version(program):
    found = shutil.which(program)
    if not found:
        return None
    told = subprocess.run([found, "--version"], capture_output=True, text=True)
    return (told.stdout.splitlines() or ["?"])[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--mdsel", default=os.path.join(HERE, "../../target/release/mdsel"))
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    folder, program = os.path.abspath(options.folder), os.path.abspath(options.mdsel)
    with tempfile.TemporaryDirectory() as place:
        store, database = f"{place}/store.db", f"{place}/fts5.db"
        ours = f"{program} --db {store}"
        ingest = f"{ours} ingest --root {folder} {folder}"
        fts5 = f"{sys.executable} {HERE}/fts5.py"
        rg = "rg" if shutil.which("rg") else None
        git = "git" if os.path.isdir(f"{folder}/.git") else None
        b3sum = "b3sum" if shutil.which("b3sum") else None
        touch = f"find {folder} -name '*.md' -exec touch {{}} +"
        # name, before each pair, ours, the peer, its command
        work = [
            ("full ingest", f"rm -rf {store}*", ingest, "fts5.py", f"{fts5} index {folder} {database}"),
            ("ingest, nothing changed", "", ingest, git, f"git -C {folder} status --porcelain"),
            ("ingest, every time new", touch, ingest, b3sum, f"find {folder} -name '*.md' -print0 | xargs -0 b3sum"),
            ("words, best 20", "", f"{ours} search 'thread local'", "fts5.py", f"{fts5} search {database} 'thread local'"),
            ("a rare literal", "", f"{ours} search -F thread_local", rg, f"rg -F thread_local {folder}"),
            ("a common literal, all hits", "", f"{ours} search -F return --limit 0 -f text", rg,
             f"rg --vimgrep -F return {folder}"),
            ("no literal", "", f"{ours} search -e '[0-9]{{4}}-[0-9][0-9]' --limit 0 -f text", rg,
             f"rg --vimgrep '[0-9]{{4}}-[0-9][0-9]' {folder}"),
            ("titles", "", f"{ours} find thread", rg, f"rg -i '^#.*thread' {folder}"),
        ]
        for peer in ("git", "rg", "b3sum"):
            print(f"{peer}: {version(peer) or 'not installed'}")
        print(f"{'work':<28} {'mdsel s':>9} {'peer s':>9} {'ratio':>7}  peer")
        for name, before, mine, peer, theirs in work:
            if not peer or options.only not in name:
                continue
            pairs = []
            for _ in range(options.runs):
                if before:
                    run(before)
                pairs.append((run(mine), run(theirs)))
            ratio = statistics.median(one / other for one, other in pairs)
            mine, theirs = (statistics.median(times) for times in zip(*pairs))
            print(f"{name:<28} {mine:9.4f} {theirs:9.4f} {ratio:7.3f}  {peer}")
        files = [os.path.join(base, name) for base, _, names in os.walk(folder) for name in names]
        corpus = sum(os.path.getsize(file) for file in files if file.endswith(".md"))
        kept = size(store, f"{store}-fts")
        print(f"store and index: {kept} bytes for {corpus} of Markdown: {kept / corpus:.2f}")


main()
