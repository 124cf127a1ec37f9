"""Compares mdsel with other programs on the same files: runs whole processes in alternation, prints medians and ratios.

compare.py FOLDER [--mdsel PROGRAM] [--runs N] [--only WORD]
compare.py FOLDER --growth 1,4,16 [--mdsel PROGRAM]

It works on a copy of the Markdown files of FOLDER, in a temporary folder. A peer that is not installed is left out.
A ratio is the median, over all pairs of runs, of mdsel's time divided by the peer's time. Peers that take minutes run
once. With --growth only mdsel runs, on that many copies of FOLDER, each in a folder of its own and with a distinct
word in every file. All tables are Markdown.
"""
import argparse
import datetime
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "../../target/release")
# The argument that prints the version of each peer; the scripts in this folder have no version.
PEERS = {"git": "--version", "rg": "--version", "grep": "--version", "sed": "--version", "b3sum": "--version",
         "qmd": "--version", "mq": "--version", "mdq": "--version", "invar": "version"}


def markdown(folder):
    return sorted(os.path.join(base, name) for base, _, names in os.walk(folder) for name in names
                  if name.endswith(".md"))


def copy(folder, target, suffix=b""):
    for file in markdown(folder):
        copied = os.path.join(target, os.path.relpath(file, folder))
        os.makedirs(os.path.dirname(copied), exist_ok=True)
        with open(file, "rb") as read, open(copied, "wb") as written:
            written.write(read.read() + suffix)


def size(*paths):
    return sum(os.path.getsize(os.path.join(base, name))
               for path in paths for base, _, names in os.walk(path) for name in names) + \
        sum(os.path.getsize(path) for path in paths if os.path.isfile(path))


def run(command):
    """The run time in seconds and the peak resident memory in bytes of one process."""
    start = time.perf_counter()
    process = subprocess.Popen(f"exec {command}", shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) > 1:
        sys.exit(f"failed: {command}")
    return time.perf_counter() - start, usage.ru_maxrss * 1024


def output(command):
    return subprocess.run(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def version(program, flag="--version"):
    printed = output(f"{program} {flag}").decode().strip().splitlines()
    numbers = re.search(r"\d+\.\d+[\w.]*", printed[0] if printed else "")
    return f"{os.path.basename(program)} {numbers[0] if numbers else '?'}"


def headline(program):
    peers = [version(peer, flag) for peer, flag in PEERS.items() if shutil.which(peer)]
    python = f"Python {sys.version.split()[0]}"
    missing = [f"{peer} not installed" for peer in PEERS if not shutil.which(peer)]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{datetime.date.today()}, {os.cpu_count()} cores, {memory:.0f} GiB; " + ", ".join(
        [version(program), *peers, python, *missing])


def queries(ours, files, folder, number):
    """One query of each kind over `files`, among which is the copy with this number: its name and its command."""
    one = shlex.quote(os.path.relpath(files[len(files) // 2], folder))
    word = f"copyword{number}q"
    yield "one section", f"{ours} read {one} @1"
    yield "neighbors of a section", f"{ours} neighbors {one}::@1"
    yield "headings of a document", f"{ours} toc {one}"
    yield "links of a document", f"{ours} links list {one}"
    yield "a title that nothing has", f"{ours} select 'No Such Title'"
    yield "part of a title, 20 sections", f"{ours} find thread"
    yield "headings of all, 20 items", f"{ours} toc --limit 20"
    yield "index of all, 20 items", f"{ours} index --limit 20"
    yield "paragraphs of all, 20 items", f"{ours} select block:paragraph --limit 20"
    yield "code, 20 items", f"{ours} code --limit 20"
    yield "tables, 20 items", f"{ours} tables --limit 20"
    yield "front matter, 20 items", f"{ours} meta --limit 20"
    yield "front matter sorted by title", f"{ours} meta --limit 20 --sort title"
    yield "a rare word", f"{ours} search '{word} {os.path.basename(files[0]).split('.')[0]}'"
    yield "frequent words", f"{ours} search 'thread local'"
    yield "a word that nothing has", f"{ours} search nosuchwordq"
    yield "context of a question", f"{ours} context --query 'thread local'"
    yield "a rare literal", f"{ours} search -F '{word} '"
    yield "a frequent literal, 20 hits", f"{ours} search -F return --limit 20"
    yield "a pattern without a literal, 20 hits", f"{ours} search -e '\\w\\w' --limit 20"
    yield "status", f"{ours} status"
    yield "prime", f"{ours} prime"


def growth(folder, program, factors):
    print(headline(program) + "\n")
    print("| copies | documents | ingest s | peak MB | store and index MB | again s | one change s | one edit ms |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    rows = {}
    with tempfile.TemporaryDirectory() as place:
        os.environ |= {"XDG_CONFIG_HOME": f"{place}/config"}
        made = 0
        for factor in factors:
            while made < factor:
                copy(folder, f"{place}/all/copy-{made}", f"\ncopyword{made}q\n".encode())
                made += 1
            store, files = f"{place}/{factor}.db", markdown(f"{place}/all")
            ours = f"{program} --db {store}"
            seconds, peak = run(f"{ours} ingest --root {place}/all {place}/all")
            kept = size(store, f"{store}-fts") / 1e6
            again = statistics.median(run(f"{ours} ingest")[0] for _ in range(3))
            changed, edited = f"{place}/all/changed.md", f"{place}/all/edited.md"
            ends = []
            for number in range(3):
                with open(changed, "w") as file:
                    file.write(f"# Changed\n\nText {number}.\n")
                ends.append(run(f"{ours} ingest")[0])
            with open(edited, "w") as file:
                file.write("# Edited\n\nText.\n")
            run(f"{ours} ingest")
            edit = [run(f"{ours} replace edited.md Edited --content 'Text {number}.'")[0] for number in range(7)]
            for name, command in queries(ours, files, f"{place}/all", made - 1):
                times = [run(command)[0] for _ in range(9)]
                rows.setdefault(name, []).append(f"{statistics.median(times) * 1000:.1f}")
            os.remove(changed), os.remove(edited)
            print(f"| {factor} | {len(files)} | {seconds:.1f} | {peak / 1e6:.0f} | {kept:.0f} | {again:.2f} | "
                  f"{statistics.median(ends):.2f} | {statistics.median(edit) * 1000:.1f} |", flush=True)
    print("\n| ms with copies | " + " | ".join(map(str, factors)) + " |\n| --- |" + " --- |" * len(factors))
    for name, times in rows.items():
        print(f"| {name} | " + " | ".join(times) + " |")


class Document:
    """The document whose size is closest to `size`, and a section of it that every peer can find by its title."""

    def __init__(self, files, folder, size):
        plain = re.compile(rb"^##+ ([A-Z][A-Za-z]+(?: [A-Za-z]+)*)$", re.M)
        for file in sorted(files, key=lambda file: abs(os.path.getsize(file) - size)):
            titles = plain.findall(open(file, "rb").read())
            titles = [title.decode() for title in titles if titles.count(title) == 1]
            if titles:
                self.file, self.name = shlex.quote(file), shlex.quote(os.path.relpath(file, folder))
                self.title = titles[-1]
                self.slug = self.title.lower().replace(" ", "-")
                return
        sys.exit("no document has a section with a plain title")


def work(place, folder, program):
    """Each kind of work: its name, the command before each pair, mdsel's command, the peer, its command, and the
    greatest number of runs. {n} is the number of the run."""
    store, database, index = f"{place}/store.db", f"{place}/fts5.db", f"{place}/tantivy"
    ours, fts5 = f"{program} --db {store}", f"{sys.executable} {HERE}/fts5.py"
    alone = os.path.abspath(f"{PROGRAM}/examples/tantivy_alone")
    alone = alone if os.path.exists(alone) else "tantivy_alone"
    files = markdown(folder)
    large, small = Document(files, folder, 300_000), Document(files, folder, 3_000)
    ingest = f"{ours} ingest --root {folder} {folder}"
    touch = f"find {folder} -name '*.md' -print0 | xargs -0 touch"
    change, edited = f"{place}/change.md", f"{place}/edited.md"
    yield "full ingest", f"rm -rf {store}*", ingest, "fts5.py", f"{fts5} index {folder} {database}", 99
    yield "full ingest", f"rm -rf {store}*", ingest, alone, f"{alone} index {folder} {index}", 3
    yield "full ingest", f"rm -rf {store}* {place}/cache", ingest, "qmd", f"qmd collection add {folder} --name all", 1
    yield "ingest, nothing changed", "", ingest, "git", f"git -C {folder} status --porcelain", 99
    yield "ingest, nothing changed", "", ingest, "qmd", "qmd update", 3
    yield "ingest, one file changed", f"cp {change} {folder}/mdsel-change-{{n}}.md", ingest, "nothing changed", ingest, 99
    yield "ingest, every time new", touch, ingest, "b3sum", f"find {folder} -name '*.md' -print0 | xargs -0 b3sum", 99
    yield "one section of 300 KB", "", f"{ours} read {large.name} '{large.title}' -f raw", "sed", \
        f"sed -n 29,228p {large.file}", 99
    yield "one section of 3 KB", "", f"{ours} read {small.name} '{small.title}' -f raw", "sed", \
        f"sed -n 10,20p {small.file}", 99
    yield "one section of 300 KB", "", f"{ours} read {large.name} '{large.title}'", "mdq", \
        f"mdq '# {large.title}' {large.file}", 99
    yield "one section of 300 KB", "", f"{ours} read {large.name} '{large.title}'", "mq", \
        f"mq 'include \"section\" | nodes | section(\"{large.title}\")' {large.file}", 99
    yield "one section of 300 KB", "", f"{ours} read {large.name} '{large.title}'", "invar", \
        f"invar doc read {large.file} {large.slug}", 99
    yield "headings of 300 KB", "", f"{ours} toc {large.name}", "sed", f"sed -n '/^#/p' {large.file}", 99
    yield "headings of 300 KB", "", f"{ours} toc {large.name}", "mq", f"mq .h {large.file}", 99
    yield "headings of 300 KB", "", f"{ours} toc {large.name}", "invar", f"invar doc toc {large.file}", 99
    yield "neighbors of a section", "", f"{ours} neighbors {large.name}#{large.slug}", "sed", \
        f"sed -n 29,228p {large.file}", 99
    yield "one edit", f"test -e {edited} || cp {small.file} {edited}", f"{ours} replace {small.name} '{small.title}' --content 'Text {{n}}.' --allow-change", "invar", \
        f"sh -c 'echo Words {{n}}. | invar doc replace {edited} {small.slug} -c -'", 99
    yield "words, best 20", "", f"{ours} search 'thread local'", "fts5.py", f"{fts5} search {database} 'thread local'", 99
    yield "words, best 20", "", f"{ours} search 'thread local'", alone, f"{alone} search {index} 'thread local'", 99
    yield "words, best 20", "", f"{ours} search 'thread local'", "qmd", "qmd search 'thread local' -n 20 --json", 99
    yield "a rare literal", "", f"{ours} search -F thread_local", "rg", f"rg -F thread_local {folder}", 99
    yield "a rare literal", "", f"{ours} search -F thread_local", "grep", \
        f"grep -rF --include=*.md thread_local {folder}", 99
    yield "a common literal, all hits", "", f"{ours} search -F return --limit 0 -f text", "rg", \
        f"rg --vimgrep -F return {folder}", 99
    pattern = "'[0-9]{4}-[0-9][0-9]'"
    yield "no literal, all hits", "", f"{ours} search -e {pattern} --limit 0 -f text", "rg", \
        f"rg --vimgrep {pattern} {folder}", 99
    yield "titles", "", f"{ours} find thread", "rg", f"rg -i '^#.*thread' {folder}", 99
    yield "all headings", "", f"{ours} toc --limit 0 -f text", "rg", f"rg '^#' {folder}", 99
    yield "all headings", "", f"{ours} toc --limit 0 -f text", "mq", f"find {folder} -name '*.md' -print0 | xargs -0 mq .h", 3


def bytes_of_answers(place, folder, program):
    """The size in bytes of each program's JSON answer for the same content."""
    ours = f"{program} --db {place}/store.db"
    document = Document(markdown(folder), folder, 300_000)
    content = len(output(f"{ours} read {document.name} '{document.title}' -f raw"))
    asked = [
        ("one section", content, {
            "mdsel": f"{ours} read {document.name} '{document.title}'",
            "mdsel --compact": f"{ours} read {document.name} '{document.title}' --compact",
            "mdq": f"mdq --output json '# {document.title}' {document.file}",
            "invar": f"invar doc read {document.file} {document.slug} --json",
        }),
        ("headings of a document", len(output(f"sed -n '/^#/p' {document.file}")), {
            "mdsel": f"{ours} toc {document.name} --limit 0",
            "mdsel --compact": f"{ours} toc {document.name} --limit 0 --compact",
            "mdsel, records": f"{ours} toc {document.name} --limit 0 -f records",
            "mdsel, records --compact": f"{ours} toc {document.name} --limit 0 -f records --compact",
            "invar": f"invar doc toc {document.file}",
        }),
        ("20 hits of words", None, {
            "mdsel": f"{ours} search 'thread local'",
            "qmd": "qmd search 'thread local' -n 20 --json",
        }),
    ]
    print("\n| answer in JSON | bytes of the content | bytes of the answer |")
    print("| --- | --- | --- |")
    for name, content, commands in asked:
        commands = {peer: command for peer, command in commands.items()
                    if peer.startswith("mdsel") or shutil.which(peer)}
        sizes = "; ".join(f"{peer} {len(output(command))}" for peer, command in commands.items())
        print(f"| {name} | {content or ''} | {sizes} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--mdsel", default=f"{PROGRAM}/mdsel")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--only", default="")
    parser.add_argument("--growth", default="")
    options = parser.parse_args()
    given, program = os.path.abspath(options.folder), os.path.abspath(options.mdsel)
    if options.growth:
        return growth(given, program, [int(factor) for factor in options.growth.split(",")])
    with tempfile.TemporaryDirectory() as place:
        folder = f"{place}/files"
        os.environ |= {"XDG_CACHE_HOME": f"{place}/cache", "XDG_CONFIG_HOME": f"{place}/config"}
        copy(given, folder)
        with open(f"{place}/change.md", "w") as change:
            change.write("# A change\n\nof one file.\n")
        if shutil.which("git"):
            git = f"git -C {folder} -c user.name=n -c user.email=e -c core.hooksPath=/dev/null -c gc.auto=0"
            output(f"{git} init && {git} add . && {git} commit -m files && {git} status")
        corpus = sum(map(os.path.getsize, markdown(folder)))
        print(f"{headline(program)}; {len(markdown(folder))} files, {corpus} bytes\n")
        print("| work | mdsel s | peer s | mdsel / peer | from - to | peer | runs |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        peak = kept = 0
        for name, before, mine, peer, theirs, most in work(place, folder, program):
            is_available = peer in ("fts5.py", "nothing changed") or shutil.which(peer)
            needed = name in ("full ingest", "ingest, nothing changed")
            if not is_available or not needed and options.only not in name:
                continue
            pairs = []
            runs = min(options.runs, most) if options.only in name else 1
            for n in range(runs):
                first, ours, other = (command.replace("{n}", str(n)) for command in (before, mine, theirs))
                if first:
                    run(f"sh -c {shlex.quote(first)}")
                seconds, memory = run(ours)
                pairs.append((seconds, run(other)[0]))
                peak = max(peak, memory if name == "full ingest" else 0)
            kept = kept or size(f"{place}/store.db", f"{place}/store.db-fts")
            ratios = [one / other for one, other in pairs]
            ratio = f"{statistics.median(ratios):.3f} | {min(ratios):.3f} - {max(ratios):.3f}"
            mine, theirs = (statistics.median(times) for times in zip(*pairs))
            print(f"| {name} | {mine:.4f} | {theirs:.4f} | {ratio} | {os.path.basename(peer)} | {len(pairs)} |",
                  flush=True)
        print(f"\nstore and index: {kept / corpus:.2f} of the Markdown; peak of a full ingest: {peak / 1e6:.0f} MB")
        bytes_of_answers(place, folder, program)


main()
