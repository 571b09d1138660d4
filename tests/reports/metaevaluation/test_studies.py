"""The report of one or several studies: its sections and document, and its page."""

from __future__ import annotations

import html
import importlib.util
import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from truemoment.base.boundary.documents import as_json
from truemoment.report.render import markdown, terminal
from truemoment.report.render.html import page
from truemoment.studies.meta.agreement import agreement
from truemoment.studies.meta.all_studies import Studies
from truemoment.studies.meta.axioms import check_axioms
from truemoment.studies.meta.loading import LoadedSystems
from truemoment.studies.meta.power import power
from truemoment.studies.meta.reports import StudyReport, document, report, study_reports
from truemoment.studies.meta.reports import axioms as of_axioms
from truemoment.studies.meta.reports.verdict import verdict
from truemoment.studies.meta.stability import stability
from truemoment.studies.meta.ties import ties

pytestmark = pytest.mark.slow

_spec = importlib.util.spec_from_file_location("audit_page_tests", Path(__file__).parents[1] / "test_page.py")
of_audit = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(of_audit)
Reader, CHROMIUM, MEASURE = of_audit.Reader, of_audit.CHROMIUM, of_audit.MEASURE
without_script = of_audit.without_script

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


SOURCE = {"name": "ours", "path": "runs/a.jsonl", "sha256": "ab" * 32}


def studied(systems) -> Studies:
    """Five studies with few draws."""
    rng = np.random.default_rng(0)
    return Studies(
        systems,
        axioms=check_axioms(MEASURES, rng, pairs=50),
        agreement=agreement(systems, rng, resamples=20),
        stability=stability(systems, rng, trials=20, sizes=[10, 20, 40]),
        ties=ties(systems, rng, resamples=10),
        power=power(systems, rng, repetitions=3),
    )


@pytest.fixture(scope="module")
def studies(make_systems):
    return studied(make_systems([f"system {at}" for at in range(6)], MEASURES))


@pytest.fixture(scope="module")
def loaded(studies):
    return LoadedSystems(studies.systems, sources=(SOURCE,), simulated=("system 0",), incomplete=("system 1: late.",))


@pytest.fixture(scope="module")
def of_all(studies, loaded):
    """The report of all studies."""
    return report(study_reports(studies), loaded, seed=7, verdict=verdict(studies))


@pytest.fixture(scope="module")
def of_one(studies, loaded):
    """The report of the first study."""
    return report(study_reports(studies)[:1], loaded, seed=7)


@pytest.fixture(scope="module")
def hostile_text(make_systems):
    studies = studied(make_systems(NAMES, MEASURES, dataset="<i>data</i>", split='te"st\u202e'))
    long = {"name": NAMES[0], "path": "<script>\u202e\ud800" + "z" * 900, "sha256": "<b>"}
    loaded = LoadedSystems(studies.systems, sources=(long,))
    made = report(study_reports(studies), loaded, verdict=verdict(studies))
    return page(made, command="truemoment meta report '</code><script>'")


@pytest.fixture(scope="module")
def bare(studies):
    """The report of a study without systems."""
    return report([StudyReport.of(of_axioms, studies.axioms)])


def test_the_answer_stands_first_then_the_table_then_a_section_a_study(of_all, studies):
    names = ["found", "glance", "agreement", "stability", "ties", "power", "axioms", "claims"]
    assert [section.name for section in of_all.sections] == names
    assert of_all.headline.sentences == (verdict(studies).headline,)
    assert of_all.notes == verdict(studies).notes


def test_a_report_of_one_study_has_notes_on_the_systems(of_one):
    assert [section.name for section in of_one.sections] == ["agreement"]
    assert of_one.headline is None
    assert of_one.notes == ("6 systems, of which 1 is simulated (see 'meta population').", "system 1: late.")


def test_data_hashes_and_seed_are_named(of_all, studies, bare):
    assert of_all.facts[0] == ("data", "made-up/test: 80 queries, 40 videos")  # as make_systems draws them
    assert of_all.signature == f"{studies.systems.first.signature()}|seed:7"
    assert of_all.hashes == (("ours: runs/a.jsonl", "ab" * 32), ("made-up, test", "cd" * 32))
    assert (bare.facts, bare.hashes, bare.title) == ((), (), "Axioms")
    assert bare.signature.endswith("|seed:0")


def test_only_terms_of_the_report_are_explained(of_all, bare):
    assert {"Kendall's tau-b", "Self-agreement", "INV and MON"} <= {term for term, _ in of_all.reading}
    assert [term for term, _ in bare.reading] == ["Measures in figures", "INV and MON", "Sources"]


def test_the_document_says_what_it_is_of(studies, loaded):
    found = as_json(document(study_reports(studies)[:1], loaded, seed=7))
    assert (found["schema"], found["dataset"], found["split"]) == ("truemoment/meta/1", "made-up", "test")
    assert found["annotations"] == {"sha256": "cd" * 32, "n_queries": 80, "n_videos": 40}
    assert (found["sources"], found["seed"], found["simulated"], found["baselines"]) == ([SOURCE], 7, ["system 0"], [])
    study = found["studies"]["agreement"]
    assert study["title"] == "Do the measures rank systems alike?"
    assert study["said"] == study_reports(studies)[0].sentences
    assert study["notes"] == [*loaded.notes, *study_reports(studies)[0].notes]
    assert "verdict" not in found
    with_verdict = as_json(document(study_reports(studies), loaded, verdict=verdict(studies)))
    assert with_verdict["studies"]["agreement"]["notes"] == study_reports(studies)[0].notes
    assert with_verdict["verdict"] == as_json(verdict(studies).document)


def test_a_document_without_systems_names_no_data(studies):
    found = document([StudyReport.of(of_axioms, studies.axioms)])
    assert set(found) == {"simulated", "baselines", "schema", "truemoment", "sources", "seed", "studies"}


def test_two_studies_of_one_name_are_both_kept(studies):
    twice = [StudyReport.of(of_axioms, studies.axioms)] * 2
    assert list(document(twice)["studies"]) == report(twice).anchors == ["axioms", "axioms-2"]


def test_the_terminal_and_markdown_begin_with_the_answer(of_all):
    headline = of_all.headline.sentences[0]
    assert f"- {headline}" in terminal.body(of_all)
    assert markdown.lines(of_all)[0] == headline.replace("_", "\\_")


# ---------------------------------------------------------------------------------------------- the page


@pytest.fixture(scope="module")
def bare_text(bare):
    return page(bare)


EVERY = ["hostile_text", "bare_text"]


def flat(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def test_every_figure_is_there_once(hostile_text, of_all):
    for drawing in of_all.drawings:
        assert hostile_text.count(f'id="figure-{drawing.name}"') == 1
    images = [attrs for tag, attrs in Reader(hostile_text).elements if tag == "svg" and "aria-hidden" not in attrs]
    assert len(images) == len(of_all.drawings) > 5


@pytest.mark.parametrize("which", EVERY)
def test_undefined_is_never_nan(request, which):
    words = flat(without_script(request.getfixturevalue(which))).lower().split()
    assert "nan" not in words
    assert "inf" not in words


@pytest.mark.parametrize("which", EVERY)
def test_it_is_whole_and_needs_nothing_else(request, which):
    made_text = without_script(request.getfixturevalue(which))
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


@pytest.mark.thorough  # tests/reports/test_page.py looks at pages of audits
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
