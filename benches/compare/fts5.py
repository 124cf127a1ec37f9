"""A small program for comparison: indexes Markdown, split at headings, with SQLite FTS5.

fts5.py index FOLDER DATABASE     rebuilds the database
fts5.py search DATABASE QUERY     prints the 20 best sections
"""
import os
import re
import sqlite3
import sys

HEADING = re.compile(r"^(#{1,6})\s+(.*)$")


def sections(text):
    title, line, body, is_fenced = "", 1, [], False
    for number, row in enumerate(text.split("\n"), 1):
        if row.startswith("```"):
            is_fenced = not is_fenced
        match = None if is_fenced else HEADING.match(row)
        if match:
            yield title, "\n".join(body), line
            title, line, body = match.group(2), number, []
        else:
            body.append(row)
    yield title, "\n".join(body), line


def index(folder, path):
    if os.path.exists(path):
        os.remove(path)
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("CREATE VIRTUAL TABLE section USING fts5 (title, body, file UNINDEXED, line UNINDEXED)")
    for base, _, names in os.walk(folder):
        for name in (name for name in names if name.endswith(".md")):
            file = os.path.join(base, name)
            text = open(file, encoding="utf-8", errors="replace").read()
            rows = [(title, body, file, line) for title, body, line in sections(text)]
            database.executemany("INSERT INTO section VALUES (?, ?, ?, ?)", rows)
    database.commit()


def search(path, query):
    statement = "SELECT file, line, title FROM section WHERE section MATCH ? ORDER BY rank LIMIT 20"
    for file, line, title in sqlite3.connect(path).execute(statement, [query]):
        print(f"{file}:{line}: {title}")


{"index": index, "search": search}[sys.argv[1]](*sys.argv[2:])
