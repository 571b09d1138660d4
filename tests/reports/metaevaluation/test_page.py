"""The page of studies: what it says, that it needs nothing else, that nothing breaks out of it, how it is laid out."""

from __future__ import annotations

import dataclasses
import html
import importlib.util
import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from truemoment.metaevaluation.agreement import agreement
from truemoment.metaevaluation.axioms import check_axioms
from truemoment.metaevaluation.power import power
from truemoment.metaevaluation.stability import stability
from truemoment.metaevaluation.studies import Studies
from truemoment.metaevaluation.ties import ties
from truemoment.reports.metaevaluation import axioms as axioms_chapter
from truemoment.reports.metaevaluation import power as power_chapter
from truemoment.reports.metaevaluation import stability as stability_chapter
from truemoment.reports.metaevaluation import ties as ties_chapter
from truemoment.reports.metaevaluation.agreement import chapter
from truemoment.reports.metaevaluation.page import MOST_ROWS, page, signature
from truemoment.reports.metaevaluation.verdict import verdict

pytestmark = pytest.mark.slow

_spec = importlib.util.spec_from_file_location("audit_page_tests", Path(__file__).parents[1] / "test_page.py")
of_audit = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(of_audit)
Reader, CHROMIUM, MEASURE = of_audit.Reader, of_audit.CHROMIUM, of_audit.MEASURE

MEASURES = "R@1,IoU=0.5; R@5,IoU=0.5; R@5,IoU=0.7; AxIoU@1; AxIoU@5; dR@1,IoU=0.5"
NAMES = [
    "<script>alert(1)</script>",
    "\u202eright to left",
    "y" * 3000,
    "two\nlines \x1b[31m\x00",
    "</style></title><b>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}{% raw %}",
    "日本語の名前",
]


def studied(systems) -> tuple[Studies, list]:
    """Five studies with few draws, and their chapters."""
    rng = np.random.default_rng(0)
    studies = Studies(
        systems,
        axioms=check_axioms(MEASURES, rng, pairs=50),
        agreement=agreement(systems, rng, resamples=20),
        stability=stability(systems, rng, trials=20, sizes=[10, 20, 40]),
        ties=ties(systems, rng, resamples=10),
        power=power(systems, rng, repetitions=3),
    )
    chapters = [
        chapter(studies.agreement),
        stability_chapter.chapter(studies.stability),
        ties_chapter.chapter(studies.ties),
        power_chapter.chapter(studies.power),
        axioms_chapter.chapter(studies.axioms),
    ]
    return studies, chapters


@pytest.fixture(scope="module")
def made(make_systems):
    """Studies of systems with plain names, their chapters, and the answer over all."""
    studies, chapters = studied(make_systems([f"system {at}" for at in range(6)], MEASURES))
    return studies, chapters, verdict(studies)


def page_of(made):
    studies, chapters, answer = made
    return page(
        chapters,
        verdict=answer,
        scores=studies.systems.first,
        sources=[{"name": "ours", "path": "runs/a.jsonl", "sha256": "ab" * 32}],
        seed=7,
        command="truemoment meta report runs/a.jsonl",
    )


@pytest.fixture(scope="module")
def text(made):
    return page_of(made)


@pytest.fixture(scope="module")
def single_text(made):
    studies, chapters, _ = made
    return page(chapters[:1], scores=studies.systems.first, seed=7)


@pytest.fixture(scope="module")
def hostile_text(make_systems):
    studies, chapters = studied(make_systems(NAMES, MEASURES, dataset="<i>data</i>", split='te"st\u202e'))
    sources = [{"name": NAMES[0], "path": "<script>\u202e\ud800" + "z" * 900, "sha256": "<b>"}, {"name": NAMES[1]}]
    return page(
        chapters,
        verdict=verdict(studies),
        scores=studies.systems.first,
        sources=sources,
        command="truemoment meta report '</code><script>'",
    )


@pytest.fixture(scope="module")
def bare_text(made):
    """A study without systems."""
    return page([made[1][-1]], seed=0)


EVERY = ["text", "single_text", "hostile_text", "bare_text"]


def flat(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def test_the_answer_stands_first_then_the_table_then_a_section_a_study(text):
    sections = [attrs["id"] for tag, attrs in Reader(text).elements if tag == "section"]
    assert sections == ["found", "glance", "agreement", "stability", "ties", "power", "axioms", "reading"]
    assert [tag for tag, _ in Reader(text).elements].count("h1") == 1


def test_a_page_of_one_study_is_its_chapter(single_text, bare_text):
    for made_text, name in ((single_text, "agreement"), (bare_text, "axioms")):
        assert [attrs["id"] for tag, attrs in Reader(made_text).elements if tag == "section"] == [name, "reading"]
        assert "Measures at a glance" not in made_text


def test_every_sentence_note_and_cell_is_there(text, made):
    _, chapters, answer = made
    shown = flat(text)
    sentences = [answer.headline, *answer.notes, *(sentence for one in answer.answers for sentence in one.said)]
    sentences += [sentence for one in chapters for sentence in (one.title, *one.said, *one.notes)]
    for sentence in sentences:
        assert " ".join(sentence.split()) in shown
    tables = [answer.glance, *(table for one in chapters for table in one.tables)]
    assert text.count("<table") == len(tables)
    for table in tables:
        for _, rows in table.groups:
            for cell in (cell for row in rows for cell in row):
                assert cell.text in shown
                assert cell.below in shown


def test_every_figure_is_there_once(text, made):
    drawings = [drawing for one in made[1] for drawing in one.drawings]
    for drawing in drawings:
        assert text.count(f'id="figure-{drawing.name}"') == 1
    images = [attrs for tag, attrs in Reader(text).elements if tag == "svg"]
    assert len(images) == len(drawings) > 5
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in images)


def test_long_tables_are_folded_and_so_are_all_below_an_answer(text, single_text, made):
    chapters = made[1]
    assert text.count("<details>") == sum(len(one.tables) for one in chapters)
    assert "<details>" not in single_text  # no table of six measures or systems is long
    table = chapters[0].tables[0]
    rows = tuple(row for _, of in table.groups for row in of) * 6
    long = dataclasses.replace(table, groups=(("", rows),))
    assert len(rows) > MOST_ROWS
    folded = page([dataclasses.replace(chapters[0], tables=(long,))])
    assert f"({len(rows)} rows)" in flat(folded)


def test_what_is_needed_to_make_it_again_stands_at_the_end(text, made):
    end = text[text.index("<footer>") :]
    assert html.escape(signature(made[0].systems.first, 7)) in end
    assert "|seed:7" in end
    assert "ab" * 32 in end
    assert "ours: runs/a.jsonl" in end
    assert "cd" * 32 in end  # of the annotations, as the made-up scores say
    assert "truemoment meta report runs/a.jsonl" in end


def test_only_what_the_page_shows_is_explained(text, bare_text):
    assert "Kendall&#39;s tau-b" in text
    assert "Self-agreement" in text
    assert "Kendall&#39;s tau-b" not in bare_text
    assert "INV and MON" in bare_text


@pytest.mark.parametrize("which", EVERY)
def test_undefined_is_never_nan(request, which):
    words = flat(request.getfixturevalue(which)).lower().split()
    assert "nan" not in words
    assert "inf" not in words


@pytest.mark.parametrize("which", EVERY)
def test_it_is_whole_and_needs_nothing_else(request, which):
    made_text = request.getfixturevalue(which)
    reader = Reader(made_text)
    assert reader.faults == []
    tags = {tag for tag, _ in reader.elements}
    assert not tags & {"script", "img", "iframe", "object", "embed", "video", "form", "base", "b", "i"}
    for _, attrs in reader.elements:
        assert not [name for name in attrs if name.startswith("on") or name in ("src", "srcset", "action")]
        assert (attrs.get("href") or "#").startswith(("#", "data:"))
    assert not re.search(r"@import|url\((?!#)", made_text)
    assert "http:" not in made_text
    assert "https:" not in made_text
    assert len(made_text.encode("utf-8", "backslashreplace")) < 2_500_000


@pytest.mark.parametrize("which", EVERY)
def test_names_of_parts_are_unique_and_links_lead_somewhere(request, which):
    reader = Reader(request.getfixturevalue(which))
    ids = [attrs["id"] for _, attrs in reader.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    for _, attrs in reader.elements:
        targets = [attrs["href"][1:]] if (attrs.get("href") or "").startswith("#") else []
        for name in ("clip-path", "style"):
            targets += re.findall(r"url\(#([^)]+)\)", attrs.get(name) or "")
        targets += (attrs.get("aria-labelledby") or "").split()
        assert set(targets) <= set(ids)


def test_text_from_outside_cannot_break_out(hostile_text):
    reader = Reader(hostile_text)
    assert not {"\u202e", "\x00", "\x1b"} & set(hostile_text)
    assert "<script>alert(1)</script>" in " ".join(data for _, data in reader.text)
    assert "49" not in [data.strip() for _, data in reader.text]  # of {{ 7 * 7 }}
    assert "alert(1)" not in re.search(r"<style>(.*?)</style>", hostile_text, re.DOTALL)[1]


def test_the_same_studies_are_the_same_page(made, text):
    assert page_of(made) == text


def test_two_chapters_of_one_name_have_an_anchor_each(made):
    text = page([made[1][-1], made[1][-1]])
    sections = [attrs["id"] for tag, attrs in Reader(text).elements if tag == "section"]
    assert sections == ["axioms", "axioms-2", "reading"]


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium, chromium-browser or google-chrome on this machine")
def test_in_a_browser_nothing_overflows_and_nothing_complains(tmp_path, request):
    frames = [(f"{name}.html", width) for name in EVERY for width in (400, 1400)]
    pages = {f"{name}.html": request.getfixturevalue(name) for name in EVERY}
    for name, made_text in (pages | {"measure.html": MEASURE.replace("FRAMES", json.dumps(frames))}).items():
        (tmp_path / name).write_text(made_text, encoding="utf-8", errors="backslashreplace")
    run = subprocess.run(
        [
            *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"),
            *("--disable-background-networking", "--disable-quic", "--disable-component-update"),
            *("--allow-file-access-from-files", f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging=stderr"),
            *("--window-size=1500,900", "--virtual-time-budget=10000", "--dump-dom"),
            (tmp_path / "measure.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found = json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', run.stdout, re.DOTALL)[1]))
    assert {(one["name"], one["width"]) for one in found} == set(frames)
    assert [line for line in run.stderr.splitlines() if "CONSOLE" in line] == []
    for one in found:
        n_figures = pages[one["name"]].count("<figure ")
        assert (one["scroll"], one["out"]) == (one["width"], []), one["name"]
        assert one["figures"] == n_figures, one["name"]
