"""What every command keeps to: one run of each verb, and the same once more in other circumstances.

A new verb is held to all of it as soon as it has words in tests/hostile/every.py. The sentences that commands read hold
mark-up, codes that steer a terminal and marks of direction.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import re
import shutil
import unicodedata
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from tests.contract.examples import examples
from tests.hostile.crash_place import make_crash_place
from tests.hostile.every import GATHERED, verbs
from tests.hostile.rules import snapshot

from truemoment.cli import delivery, run
from truemoment.report.render.brief import LINES
from truemoment.report.render.terminal import WIDTH
from truemoment.report.words import columns_of

from ..schemas import fault_of, kind_of
from ..thorough import quick_are

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quick_networks")]

EVIL = (
    "<script src=//foreign.example>alert(1)</script><img src=x onerror=alert(1)> $x$ | \\end{document} "
    "\x1b[31m\u202e\u2066\x9b1m\u2028\nFORGED \r\x07"
)
HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
PASSING = frozenset(
    {"seconds", "seconds_per_epoch", "frames_a_second", "peak_memory_mb", "waited", "hardware", "command"}
)
"""Keys of documents that tell times and machines."""

LONG = {
    "annotate prepare",
    "demo",
    "leaderboard",
    "collect align",
    "collect run",
    "meta agreement",
    "meta ambiguity",
    "meta items",
    "meta report",
    "resplit",
    "train",
    "sweep",
    "bench",
    "mixtures",
    "variants",
    "features extract",
}
"""Verbs that compute for a second or more; golden cases run most of them."""

LISTS = {"cite"}
"""Verbs that print all that they are asked for; all others print at most 25 lines without --full."""

REFUSED = re.compile(
    "is read or written already|which is read, expected|is a file, expected|is there already, expected"
    "|expected a name that ends in"
)

EXAMPLES = examples()
BETWEEN = "==== between the terminal, Markdown and LaTeX"
QUICK = [verb for verb in EXAMPLES if verb not in LONG]


@pytest.fixture(scope="session")
def whole(once, empty_pictures):
    """Whole files of all kinds, whose sentences are hostile."""

    def fill(folder):
        with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()), empty_pictures():
            make_crash_place(folder / "place")
            assert run([*GATHERED, "--quiet"]) == 0
            shutil.copy("a.jsonl", "c.jsonl")
            Path("files").mkdir()
            for name in "ab":
                shutil.copy(f"{name}.jsonl", "files")
            for path in (*Path().glob("*mine.jsonl"), *map(Path, ("noisy.jsonl", "people.jsonl", "board/mine.jsonl"))):
                rows = [json.loads(line) for line in path.read_text().splitlines()]
                lines = [json.dumps(row | {"sentence": f"{row['sentence']} {EVIL}"}) + "\n" for row in rows]
                path.write_text("".join(lines))

    return once("contract", fill) / "place"


@dataclass(frozen=True)
class Done:
    """How a command ended, in which folder."""

    status: int
    out: str
    err: str
    place: Path
    new: frozenset[str]

    def check_text(self):
        """Nothing that it shows or writes to be read steers, hides or forges a line."""
        shown = [("output", self.out), ("errors", self.err)]
        shown += [
            (of, (self.place / of).read_text("utf-8")) for of in self.new if of.endswith((".html", ".md", ".svg"))
        ]
        for name, text in shown:
            hidden = {of for of in set(text) if unicodedata.category(of) in HIDDEN} - {"\n", "\t", "\u200d"}
            assert not hidden, (name, hidden)
            assert name.endswith(".html") or not re.search(r"^FORGED", text, re.MULTILINE), name
            assert "Traceback" not in text, name


@pytest.fixture
def alone(tmp_path, monkeypatch, undrawn):
    """Commands see no data and no configuration, and draw empty pictures."""
    del undrawn
    monkeypatch.delenv("TRUEMOMENT_DATA", raising=False)
    monkeypatch.setenv("TRUEMOMENT_CONFIG", str(tmp_path / "config.json"))


@pytest.fixture
def do(whole, tmp_path, alone):
    """Run words in a fresh copy of the whole files: do("evaluate", ...) -> Done."""
    del alone
    made = []

    def run_words(*words):
        # All runs are in a folder of one name, which documents may have.
        place = tmp_path / "place"
        if made:
            place.rename(tmp_path / f"place-{len(made)}")
            made[-1] = tmp_path / f"place-{len(made)}"
        shutil.copytree(whole, place)
        made.append(place)
        return done_in(place, words)

    return run_words


def done_in(place, words):
    """Run words in a folder, and return how they ended."""
    before = snapshot(place)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(place), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run([*words])
    new = {of for of in snapshot(place) if of not in before and (place / of).is_file()}
    return Done(status, out.getvalue(), err.getvalue(), place, frozenset(new))


def height(text):
    """Lines of a terminal of 100 columns that a text takes."""
    return sum(max(1, math.ceil(columns_of(line) / WIDTH)) for line in text.splitlines())


def lasting(value):
    """Return a document without what differs between equal runs."""
    if isinstance(value, dict):
        return {key: lasting(of) for key, of in value.items() if key not in PASSING}
    return [lasting(of) for of in value] if isinstance(value, list) else value


class Page(HTMLParser):
    """Collects what a page would load or run that is not its own."""

    def __init__(self):
        super().__init__()
        self.n_scripts, self.foreign = 0, []

    def handle_starttag(self, tag, attrs):
        self.n_scripts += tag == "script" and ("type", "application/json") not in attrs
        for name, value in attrs:
            text = (value or "").strip().lower()
            loads = name in {"src", "srcset", "poster", "data", "action"} or (name == "href" and tag != "a")
            is_own = text.startswith(("data:", "#")) or "//" not in text
            if name.startswith("on") or text.startswith("javascript:") or (loads and not is_own):
                self.foreign.append((tag, name, value))


def check_page(text):
    page = Page()
    page.feed(text)
    assert page.n_scripts <= 1
    assert page.foreign == []
    assert not re.search(r"@import|url\((?!['\"]?(?:data:|#))", text)


@pytest.mark.parametrize("verb", [*dict.fromkeys(verb.rpartition(" ")[0] for verb in verbs()), *verbs()])
def test_help_fits_a_screen(capsys, verb):
    assert run([*verb.split(), "-h"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert run([*verb.split(), "--help"]) == 0
    assert capsys.readouterr() == (out, "")
    assert out.startswith(" ".join(("Usage: truemoment", *verb.split(), "")))
    assert not re.search(r"\\b|\x08", out)  # click's mark for text laid out by hand, which must not be seen
    words = [line for line in out.splitlines() if not line.lstrip().startswith("truemoment ")]  # examples are copied
    assert max(map(len, words)) <= 100


@pytest.mark.parametrize("verb", quick_are(QUICK, list(EXAMPLES)))
def test_it_keeps_the_contract(do, monkeypatch, verb):
    """Twice with one seed, once by two workers: the same document, alone on standard output or in a file, and files."""
    example = EXAMPLES[verb]
    words = [*example.words, *example.having(html="page.html", figures="figures", seed="3")]
    first = do(*words, *example.having(json="-", quiet="", workers="1", jobs="1"))
    show_all_styles(monkeypatch)
    second = do(*words, *example.having(json="found.json", workers="2", jobs="2"))
    assert first.status in {0, 1}, first.err
    assert second.status == first.status
    for done in (first, second):
        done.check_text()
    if "--quiet" in example.options:
        assert first.err == ""
    shown, markdown, latex = ("".join(second.out.split(f"{BETWEEN}\n")[style::3]) for style in range(3))
    if "--full" in example.options and verb not in LISTS:
        assert height(shown.replace("page: page.html\n", "")) <= LINES, shown
    if "--table" in example.options:
        check_tables(verb, markdown, latex)
    if "--json" in example.options:
        documents = [json.loads(first.out), json.loads((second.place / "found.json").read_text("utf-8"))]
        kind = kind_of(documents[0])
        assert kind
        assert fault_of(kind, documents[0]) == ""
        assert lasting(documents[0]) == lasting(documents[1])
    assert first.new == second.new - {"found.json"}
    if "--figures" in example.options:
        drawn = {name.rpartition(".")[0] for name in first.new if name.startswith("figures/")}
        assert {f"{name}.{end}" for name in drawn for end in ("svg", "png", "pdf")} <= first.new
    if "--html" in example.options:
        page = (first.place / "page.html").read_text("utf-8")
        check_page(page)
        assert str(first.place.parent) not in page  # it can be sent to others
    for name in first.new:
        if name.endswith((".jsonl", ".csv", ".npy", ".safetensors", ".bib", ".md", ".srt", "page.html")):
            assert (first.place / name).read_bytes() == (second.place / name).read_bytes(), name


def show_all_styles(monkeypatch):
    """Let commands show each report as the terminal has it, in Markdown and in LaTeX."""
    lines, lines_of = delivery._lines, delivery._lines_of

    def in_all(report, shown):
        return [*shown, BETWEEN, *lines(report, "md"), BETWEEN, *lines(report, "latex"), BETWEEN]

    monkeypatch.setattr(delivery, "_lines", lambda report, style: in_all(report, lines(report, style)))
    monkeypatch.setattr(delivery, "_lines_of", lambda report, *of: in_all(report, lines_of(report, *of)))


def check_tables(verb, markdown, latex):
    """Each row of a table has as many cells as its head."""
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert rows or verb in {"cite", "predict run", "index calibrate", "search split"}  # a list, and nothing but notes
    for above, row in pairwise(rows):
        if re.fullmatch(r"[|:-]+", row):
            assert cells(above) == cells(row)
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") >= bool(rows)
    assert r"\end{document}" not in latex


def cells(row):
    return len(re.findall(r"(?<!\\)\|", row))


@pytest.mark.parametrize(
    "verb", [verb for verb, of in EXAMPLES.items() if {"--json", "--html", "--csv", "-o"} & of.options]
)
@pytest.mark.usefixtures("alone")
def test_what_it_reads_is_not_written_over(whole, tmp_path, verb):
    """Each file and folder among the words, as each output: refused before any work, and every file stays."""
    example = EXAMPLES[verb]
    place = shutil.copytree(whole, tmp_path / "place")
    before = snapshot(place)
    outputs = {word for option, word in pairwise(example.words) if option in {"-o", "--out"}}
    names = [word.rpartition("=")[2] for word in example.words[len(verb.split()) :]]
    read = [name for name in names if name not in outputs and (whole / name).exists()]
    options = [name for name in ("--json", "--html", "--csv", "--results", "--save-scores") if name in example.options]
    for name in dict.fromkeys(read):
        inside = next((of for of in sorted((whole / name).rglob("*.json*"))), whole / name).relative_to(whole)
        attempts = [[*example.words, *example.having(html="page.html"), option, str(inside)] for option in options]
        if outputs and (whole / name).is_file():
            attempts.append([name if word in outputs else word for word in example.words])
        for words in attempts:
            done = done_in(place, words)
            assert (done.status, done.out) == (2, ""), words
            assert REFUSED.search(done.err), words
            assert done.err.count("\n") == 1
            assert snapshot(place) == before, words
