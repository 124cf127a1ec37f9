"""The baseline of answers.py: BM25 over passages, computed from the files alone.

A passage consists of whole adjacent blocks of one section, and has 300 to 800 characters if the blocks allow it. Words
are stemmed, stop words are left out, and Han, kana and Hangul are indexed as pairs of characters. The titles of the
section and the path count as text of the passage. The results of several phrasings are fused by reciprocal rank.
"""
import importlib.util
import os
import re

SHORTEST, LONGEST = 300, 800
ENDINGS = (".md", ".markdown", ".mdx")
# Question words that are missing from the list of stop words.
ASKING = {"can", "do", "does", "how", "i", "my", "should", "what", "when", "where", "which", "who", "why"}
EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


def missing():
    """The required packages that are not installed."""
    modules = {"bm25s": "bm25s", "PyStemmer": "Stemmer", "numpy": "numpy"}
    return [package for package, module in modules.items() if not importlib.util.find_spec(module)]


def lines_by_section(text):
    """The first line number, the titles, and the numbered lines of each section; a `#` in a code fence is not a heading."""
    start, titles, lines, fence = 1, [], [], ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r" {0,3}(`{3,}|~{3,})", line)
        heading = not fence and re.match(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*$", line)
        if heading:
            yield start, [title for _, title in titles], lines
            level = len(heading[1])
            titles = [outer for outer in titles if outer[0] < level] + [(level, heading[2])]
            start, lines = number, []
        else:
            if mark and not fence:
                fence = mark[1]
            elif fence and line.strip().startswith(fence):
                fence = ""
            lines.append((number, line, bool(fence)))
    yield start, [title for _, title in titles], lines


def passages(text):
    """The line number, the titles, and the text of each passage."""
    for start, titles, lines in lines_by_section(text):
        taken, size = [], 0
        for number, line, in_code in lines:
            if not taken and not line.strip():
                continue
            taken.append((number, line))
            size += len(line) + 1
            between_blocks = not in_code and not line.strip()
            if size > LONGEST or size > SHORTEST and between_blocks:
                yield taken[0][0], titles, "\n".join(line for _, line in taken)
                taken, size = [], 0
        if taken:
            yield taken[0][0], titles, "\n".join(line for _, line in taken)
        elif titles and not any(line.strip() for _, line, _ in lines):
            yield start, titles, ""


class Ranking:
    """BM25 over the passages of one folder."""

    def __init__(self, folder, root):
        import bm25s
        import Stemmer
        self.stemmer = Stemmer.Stemmer("english")
        self.stop = ASKING | set(bm25s.stopwords.STOPWORDS_EN)
        self.shown, self.vocabulary, words = [], {}, []
        for base, _, names in os.walk(folder):
            for name in sorted(names):
                if name.lower().endswith(ENDINGS):
                    path = os.path.relpath(os.path.join(base, name), root)
                    with open(os.path.join(base, name), encoding="utf-8", errors="replace") as opened:
                        for line, titles, text in passages(opened.read()):
                            title = " > ".join(titles)
                            self.shown.append(f"{path}:{line} {title}\n{text}")
                            words.append(self.words(f"{path} {title} {title} {text}"))
        ids = [[self.vocabulary.setdefault(word, len(self.vocabulary)) for word in passage] for passage in words]
        self.index = bm25s.BM25()
        self.index.index((ids, self.vocabulary), show_progress=False)

    def words(self, text):
        plain = [word for word in re.findall(r"[a-z0-9_]+", text.lower()) if word not in self.stop]
        pairs = [run[at:at + 2] for run in EAST_ASIAN.findall(text) for at in range(max(1, len(run) - 1))]
        return self.stemmer.stemWords(plain) + pairs

    def best(self, query, count=200):
        """The numbers of the best passages, the best first."""
        ids = [self.vocabulary[word] for word in self.words(query) if word in self.vocabulary]
        if not ids:
            return []
        scores = self.index.get_scores_from_ids(ids)
        return [number for number in (-scores).argsort(kind="stable")[:count] if scores[number] > 0]


class Passages:
    """The rankings of each corpus and of all of them."""

    def __init__(self, folder, questions):
        corpora = {question.get("corpus", "") for question in questions} | {""}
        self.rankings = {corpus: Ranking(os.path.join(folder, corpus), folder) for corpus in corpora}

    def reply(self, question, budget, with_also, everywhere):
        ranking = self.rankings["" if everywhere else question.get("corpus", "")]
        fused = {}
        for query in [question["question"], *(question["also"] if with_also else [])]:
            for place, number in enumerate(ranking.best(query)):
                fused[number] = fused.get(number, 0) + 1 / (10 + place)
        order = sorted(fused, key=lambda number: -fused[number])
        return "\n".join(ranking.shown[number] for number in order[:60])[:budget]
