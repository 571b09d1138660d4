"""The page of surveys: what it says, that it needs nothing else, that nothing breaks out of it, how it is laid out."""

import html
import importlib.util
import json
import re
import subprocess
from pathlib import Path

import pytest

from truemoment.reports import bias as report
from truemoment.reports.bias_figures import drawings
from truemoment.reports.bias_page import comparison, page

pytestmark = pytest.mark.slow

_spec = importlib.util.spec_from_file_location("audit_page_tests", Path(__file__).with_name("test_page.py"))
of_audit = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(of_audit)
Reader, CHROMIUM, MEASURE = of_audit.Reader, of_audit.CHROMIUM, of_audit.MEASURE


@pytest.fixture(scope="module")
def text(world_survey, placeless_survey):
    return page([world_survey, placeless_survey], seed=7, command="truemoment bias --annotations x.jsonl")


@pytest.fixture(scope="module")
def hostile_text(hostile_survey, world_survey):
    source = {"path": "<script>\u202e\ud800" + "z" * 900, "sha256": "<b>"}
    return page(
        [hostile_survey, world_survey], seed=0, sources=[source, None], command="truemoment bias '</code><script>'"
    )


@pytest.fixture(scope="module")
def bare_text(bare_survey):
    return page([bare_survey], seed=0)


EVERY = ["text", "hostile_text", "bare_text"]


def test_sections_stand_in_their_order(text):
    reader = Reader(text)
    sections = [attrs["id"] for tag, attrs in reader.elements if tag == "section"]
    assert sections == ["found", "compare", "own", "placeless", "reading"] or sections[:2] == ["found", "compare"]
    assert sections[-1] == "reading"
    assert len(sections) == 5
    assert [tag for tag, _ in reader.elements].count("h1") == 1


def test_every_sentence_and_note_is_there(text, world_survey, placeless_survey):
    flat = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())
    for survey in (world_survey, placeless_survey):
        for sentence in [*report.verdict(survey), *report.told(survey)]:
            assert " ".join(sentence.split()) in flat


def test_every_figure_is_there_once(text, world_survey, placeless_survey):
    listed = drawings([world_survey, placeless_survey])
    for one in listed:
        assert text.count(f'id="figure-{one.name}"') == 1
    images = [attrs for tag, attrs in Reader(text).elements if tag == "svg"]
    assert len(images) == len(listed)
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in images)


def test_datasets_stand_side_by_side(world_survey, placeless_survey):
    table = comparison([world_survey, placeless_survey])
    rows = {row[0].text: row[1:] for _, group in table.groups for row in group}
    assert {len(row) for row in rows.values()} == {2}
    constant = world_survey.whole.constant.value
    cell, placeless = rows["hit by one answer, % at IoU > 0.5"]
    assert cell.text == f"{100 * constant.value:.1f}"
    assert cell.below == f"chance {100 * constant.even_value:.1f}, {report.said_p(constant.p_value)}"
    assert (placeless.text, placeless.below) == ("undefined", "no video's duration is known")
    assert rows["queries"][0].text == f"{world_survey.whole.n_queries:,}"


def test_what_is_needed_to_make_it_again_stands_at_the_end(text, world_survey, placeless_survey):
    end = text[text.index("<footer>") :]
    assert html.escape(report.closing([world_survey, placeless_survey], 7)) in end
    for split in (*world_survey.splits, *placeless_survey.splits):
        assert split.sha256 in end
    assert "truemoment bias --annotations x.jsonl" in end


def test_undefined_is_said_with_its_reason(bare_text, text):
    assert "no sentence has a verb" in bare_text
    assert "no video&#39;s duration is known" in text
    assert "NaN" not in bare_text + text
    assert "nan" not in re.sub(r"<[^>]+>", " ", bare_text + text).lower().split()


@pytest.mark.parametrize("which", EVERY)
def test_it_is_whole_and_needs_nothing_else(request, which):
    made = request.getfixturevalue(which)
    reader = Reader(made)
    assert reader.faults == []
    tags = {tag for tag, _ in reader.elements}
    assert not tags & {"script", "img", "iframe", "object", "embed", "video", "form", "base", "b", "i"}
    for _, attrs in reader.elements:
        assert not [name for name in attrs if name.startswith("on") or name in ("src", "srcset", "action")]
        assert (attrs.get("href") or "#").startswith(("#", "data:"))
    assert not re.search(r"@import|url\((?!#)", made)
    assert "http:" not in made
    assert "https:" not in made
    assert len(made.encode("utf-8", "backslashreplace")) < 2_500_000


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
    assert "alert(1)" not in re.search(r"<style>(.*?)</style>", hostile_text, re.DOTALL)[1]


def test_the_same_surveys_are_the_same_page(text, world_survey, placeless_survey):
    again = page([world_survey, placeless_survey], seed=7, command="truemoment bias --annotations x.jsonl")
    assert again == text


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium, chromium-browser or google-chrome on this machine")
def test_in_a_browser_nothing_overflows_and_nothing_complains(tmp_path, request):
    frames = [(f"{name}.html", width) for name in EVERY for width in (400, 1400)]
    pages = {f"{name}.html": request.getfixturevalue(name) for name in EVERY}
    for name, made in (pages | {"measure.html": MEASURE.replace("FRAMES", json.dumps(frames))}).items():
        (tmp_path / name).write_text(made, encoding="utf-8", errors="backslashreplace")
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
