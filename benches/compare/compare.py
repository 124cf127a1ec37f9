"""mdsel beside other programs on the same files: whole processes in alternation, medians and ratios.

compare.py FOLDER [--mdsel PROGRAM] [--runs N] [--only WORD]
compare.py FOLDER --growth 1,4,16 [--mdsel PROGRAM]

FOLDER is left as it is but for modification times: stores and copies are made in a temporary folder. A peer that
is not installed is left out. A ratio is the median over the runs of mdsel's time over the peer's in the same
pair. With --growth mdsel runs alone, on as many copies of FOLDER under folders of their own, each with a word
of its own in every file. Both print a table in Markdown.
"""
import argparse
import datetime
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


def measured(command):
    """Seconds and peak resident bytes of one process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    return time.perf_counter() - start, usage.ru_maxrss * 1024


def growth(folder, program, factors):
    print("| copies | documents | ingest s | peak MB | store and index MB | again s | select ms | rare word ms | rare literal ms |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as place:
        made = 0
        for factor in factors:
            while made < factor:
                for base, _, names in os.walk(folder):
                    target = os.path.join(f"{place}/all/copy-{made}", os.path.relpath(base, folder))
                    for name in (name for name in names if name.endswith(".md")):
                        os.makedirs(target, exist_ok=True)
                        with open(os.path.join(base, name), "rb") as read, open(os.path.join(target, name), "wb") as written:
                            written.write(read.read() + f"\ncopyword{made}q\n".encode())
                made += 1
            store = f"{place}/{factor}.db"
            ours = f"exec {program} --db {store}"
            seconds, peak = measured(f"{ours} ingest --root {place}/all {place}/all")
            again, _ = measured(f"{ours} ingest")
            kept = size(store, f"{store}-fts") / 1e6
            files = sum(len(names) for _, _, names in os.walk(f"{place}/all"))
            first = min(name for name in os.listdir(f"{place}/all/copy-0"))
            one = next(os.path.join(base, name) for base, _, names in os.walk(f"{place}/all/copy-0/{first}") for name in names)
            address = os.path.relpath(one, f"{place}/all")
            rare = f"copyword{made - 1}q {os.path.basename(one).split('.')[0]}"
            asked = [f"{ours} select '{address}::*'", f"{ours} search '{rare}'", f"{ours} search -F thread_local"]
            times = [statistics.median(measured(command)[0] for _ in range(15)) * 1000 for command in asked]
            told = " | ".join(f"{milliseconds:.1f}" for milliseconds in times)
            print(f"| {factor} | {files} | {seconds:.1f} | {peak / 1e6:.0f} | {kept:.0f} | {again:.2f} | {told} |", flush=True)


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
    parser.add_argument("--growth", default="")
    options = parser.parse_args()
    folder, program = os.path.abspath(options.folder), os.path.abspath(options.mdsel)
    if options.growth:
        return growth(folder, program, [int(factor) for factor in options.growth.split(",")])
    with tempfile.TemporaryDirectory() as place:
        store, database = f"{place}/store.db", f"{place}/fts5.db"
        ours = f"{program} --db {store}"
        ingest = f"{ours} ingest --root {folder} {folder}"
        fts5 = f"{sys.executable} {HERE}/fts5.py"
        rg = "rg" if shutil.which("rg") else None
        git = "git" if os.path.isdir(f"{folder}/.git") else None
        b3sum = "b3sum" if shutil.which("b3sum") else None
        grep = "grep" if shutil.which("grep") else None
        sed = "sed" if shutil.which("sed") else None
        first = min(os.path.relpath(os.path.join(base, name), folder)
                    for base, _, names in os.walk(folder) for name in names if name.endswith(".md"))
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
            ("all headings", "", f"{ours} toc --limit 0 -f text", rg, f"rg '^#' {folder}"),
            ("a rare literal, grep", "", f"{ours} search -F thread_local", grep, f"grep -rF --include=*.md thread_local {folder}"),
            ("one section", "", f"{ours} read '{first}' @1 -f raw", sed, f"sed -n 1,40p '{folder}/{first}'"),
        ]
        cores, peers = os.cpu_count(), ("git", "rg", "b3sum", "grep", "sed")
        print(f"{datetime.date.today()}, {cores} cores; {version(program)}; "
              + "; ".join(f"{version(peer) or f'{peer} is not installed'}" for peer in peers) + "\n")
        print("| work | mdsel s | peer s | mdsel / peer | peer |")
        print("| --- | --- | --- | --- | --- |")
        if options.only not in "full ingest":
            run(ingest)
            run(f"{fts5} index {folder} {database}")
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
            print(f"| {name} | {mine:.4f} | {theirs:.4f} | {ratio:.3f} | {peer} |", flush=True)
        files = [os.path.join(base, name) for base, _, names in os.walk(folder) for name in names]
        corpus = sum(os.path.getsize(file) for file in files if file.endswith(".md"))
        kept = size(store, f"{store}-fts")
        print(f"\nstore and index: {kept} bytes for {corpus} of Markdown: {kept / corpus:.2f}")


main()
