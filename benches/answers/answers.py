"""Measures how often one call shows the answer to a question, compared with plain BM25 over passages.

answers.py QUESTIONS FOLDER [--mdsel PROGRAM] [--floor 1000=0.5,2000=0.6] [--floor-also ...] [--misses]

FOLDER contains the corpora that the questions name, each in its own folder. It is ingested into a temporary store
and is not changed. A question counts as answered if one of its gold texts is in the reply; case, white space and
backslashes are ignored. Each row of the table is one way to ask, and each column one limit on the reply's
characters. The exit status is 1 if a share is below its floor. --misses lists the questions without an answer in
2,000 characters.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import baseline

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "../../target/release/mdsel")
BUDGETS = [1000, 2000, 4000]
DETAIL = 2000
# The name of each way to ask, whether it sends the other phrasings, and whether it searches the whole store.
ROWS = [("one query", False, False), ("with `--also`", True, False), ("one query, whole store", False, True)]


def folded(text):
    return re.sub(r"[\s\\]+", " ", text).lower()


def read(file):
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            return opened.read()
    except OSError as error:
        sys.exit(f"cannot read {file}: {error.strerror}")


def load(file, folder):
    """The questions; each gold text is checked to be in its file."""
    questions = json.loads(read(file))
    for question in questions:
        for gold in question["gold"]:
            if folded(gold["text"]) not in folded(read(os.path.join(folder, gold["file"]))):
                sys.exit(f"{gold['file']}: does not contain the gold text of {question['question']!r}: {gold['text']!r}")
    return questions


def run(command, statuses):
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")
    except OSError as error:
        sys.exit(f"cannot run {command[0]}: {error.strerror}\n"
                 "build it with `cargo build --release`, or name another program with --mdsel")
    if done.returncode not in statuses:
        sys.exit(f"status {done.returncode}: {' '.join(command)}\n{done.stderr}")
    return done.stdout


class Mdsel:
    """Runs mdsel on a store of its own."""

    def __init__(self, program, store, folder):
        self.command = [program, "--db", store]
        run([*self.command, "ingest", "--root", folder, folder], [0])

    def reply(self, question, budget, with_also, everywhere):
        options = ["--max-chars", str(budget)]
        if with_also:
            options += [f"--also={phrasing}" for phrasing in question["also"]]
        if not everywhere and "corpus" in question:
            options += ["--under", question["corpus"]]
        # Status 1 means that there are no hits.
        reply = run([*self.command, "search", "-f", "text", *options, "--", question["question"]], [0, 1])
        if len(reply) > budget:
            sys.exit(f"{len(reply)} characters for a budget of {budget}: {question['question']!r}")
        return reply


def measure(asked, questions, with_also, everywhere):
    """For each budget, whether each question was answered, in the order of the questions."""
    return {budget: [any(folded(gold["text"]) in reply for gold in question["gold"])
                     for question in questions
                     for reply in [folded(asked.reply(question, budget, with_also, everywhere))]]
            for budget in BUDGETS}


def share(answered):
    return sum(answered) / len(answered)


def table(names, rows):
    print("| " + " | ".join(names) + " |\n|" + " --- |" * len(names))
    for name, shares in rows:
        print(f"| {name} | " + " | ".join(f"{value:.2f}" for value in shares) + " |")
    print(flush=True)


def by_kind(measured, questions):
    kinds = sorted({question["kind"] for question in questions})
    rows = [(name, [share([hit for hit, question in zip(answered[DETAIL], questions) if question["kind"] == kind])
                    for kind in kinds]) for name, answered in measured.items()]
    table([f"at {DETAIL:,}", *kinds], rows)


def below(floor, name, answered):
    """A message for each budget of a row whose share is below its floor."""
    return [f"{name}: {share(answered[budget]):.2f} at {budget:,} characters is below the floor of {least:.2f}"
            for budget, least in floor.items() if share(answered[budget]) < least]


def floor(text):
    least = {int(budget): float(value) for budget, value in (part.split("=") for part in text.split(","))}
    if not set(least) <= set(BUDGETS):
        raise ValueError
    return least


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions")
    parser.add_argument("folder")
    parser.add_argument("--mdsel", metavar="PROGRAM", default=PROGRAM)
    parser.add_argument("--floor", type=floor, default={}, help="lowest allowed shares of the row \"one query\"")
    parser.add_argument("--floor-also", type=floor, default={}, help="lowest allowed shares of the row \"with --also\"")
    parser.add_argument("--misses", action="store_true")
    return parser.parse_args()


def main():
    given = options()
    folder = os.path.abspath(given.folder)
    questions = load(given.questions, folder)
    measured = {}
    with tempfile.TemporaryDirectory() as place:
        systems = {"mdsel": Mdsel(given.mdsel, os.path.join(place, "store.db"), folder)}
        if baseline.missing():
            print(f"BM25 is left out: {', '.join(baseline.missing())} not installed\n")
        else:
            systems["BM25"] = baseline.Passages(folder, questions)
        for way, with_also, everywhere in ROWS:
            for system, asked in systems.items():
                measured[f"{system}, {way}"] = measure(asked, questions, with_also, everywhere)
    table([f"{len(questions)} questions", *(f"{budget:,}" for budget in BUDGETS)],
          [(name, [share(answered[budget]) for budget in BUDGETS]) for name, answered in measured.items()])
    by_kind(measured, questions)
    ours = {way: measured[f"mdsel, {way}"] for way, _, _ in ROWS}
    if given.misses:
        for way, answered in ours.items():
            for hit, question in zip(answered[DETAIL], questions):
                if not hit:
                    gold = question["gold"][0]
                    print(f"{way}: {question['question']}\n    {gold['file']}: {gold['text']}")
    problems = below(given.floor, "one query", ours["one query"])
    problems += below(given.floor_also, "with --also", ours["with `--also`"])
    sys.exit("\n".join(problems) or 0)


if __name__ == "__main__":
    main()
