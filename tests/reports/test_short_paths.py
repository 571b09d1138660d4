"""A page names no folder of the machine that made it, and says what is left out."""

import html
import shlex

import pytest

from truemoment.report.model import Finding, Report, Section
from truemoment.report.render.html import fragment, page
from truemoment.report.render.short_paths import ShortPaths

FOLDER = "/home/jo smith/runs"
FILE = f"{FOLDER}/p.jsonl"
WORDS = ["truemoment", "audit", f"ours={FILE}", "--annotations", "mine.jsonl", "--html", "../out/page.html"]


def report(**settings):
    found = Finding((f"{FILE}: 3 rows have no score, and/or no end.",))
    sections = (Section("one", "One", (found,)),)
    return Report(f"Evaluation of {FILE}", sections, facts=(("file", FILE),), files=(FILE,), **settings)


def test_paths_of_files_are_base_names_in_the_text_and_in_commands():
    browse = shlex.join(["truemoment", "browse", FILE, "--view", "confident-and-wrong"])
    text = html.unescape(page(report(hashes=((FILE, "1a2b"),), browse=browse), command=shlex.join(WORDS)))
    assert "jo smith" not in text
    assert ".." not in text.partition("<footer>")[2].partition("<script>")[0]
    assert "truemoment audit ours=p.jsonl --annotations mine.jsonl --html page.html" in text
    assert "truemoment browse p.jsonl --view confident-and-wrong" in text
    assert "p.jsonl: 3 rows have no score, and/or no end." in text
    assert "Paths of folders are left out of this page." in text
    assert "jo smith" not in fragment(report())


def test_a_page_without_such_paths_says_nothing_of_them():
    command = "truemoment audit runs/p.jsonl --endpoint https://example.org/v1"
    text = page(Report("R", ()), command=command)
    assert command in text
    assert "left out" not in text


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["/a/x/p.json", "/b/x/p.json"], ["a/x/p.json", "b/x/p.json"]),  # as many folders as tell them apart
        (["/x/p.json", "/p.json"], ["x/p.json", "p.json"]),  # no path is cut inside another
        (["/data", "/data/p.json"], ["data", "p.json"]),
        (["NAME: /d/p.json"], ["p.json"]),
        (["C:\\me\\p.json"], ["p.json"]),
        (["/"], ["/"]),
    ],
)
def test_each_path_has_a_name_of_its_own(words, names):
    paths = ShortPaths.among(words)
    assert [paths.in_text(word).removeprefix("NAME: ") for word in words] == names
