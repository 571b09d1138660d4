"""The page of an audit: what it says, that it needs nothing else, that nothing breaks out of it, how it is laid out."""

import hashlib
import html
import json
import re
import shutil
import subprocess

import pytest
from page_reader import Reader, without_script

from truemoment.report.model import Bar
from truemoment.report.render import html as render
from truemoment.report.render.html import page
from truemoment.studies.audit import report
from truemoment.studies.audit.checks import errors
from truemoment.studies.audit.checks.errors import examples

pytestmark = pytest.mark.slow

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def text(example):
    return page(report.report(example), command="truemoment audit examples/x.jsonl")


@pytest.fixture(scope="module")
def hostile_text(hostile):
    return page(report.report(hostile), command="truemoment audit '</code><script>'")


@pytest.fixture(scope="module")
def bare_text(bare):
    return page(report.report(bare))


@pytest.fixture(scope="module")
def words_text(in_words):
    return page(report.report(in_words))


# ----------------------------------------------------------------------------------------- what it says


def test_sections_stand_in_their_order(text):
    reader = Reader(text)
    sections = [attrs.get("id") or attrs["class"].split()[0] for tag, attrs in reader.elements if tag == "section"]
    assert sections == ["verdict", "findings", "figures", "behind", "classes", "examples", "gate", "reading"]
    assert [tag for tag, _ in reader.elements].count("h1") == 1


def test_every_finding_is_there_with_its_evidence(text, example):
    flat = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())
    for finding in example.findings[1:]:
        assert finding.verdict in flat
    words, _, figures = example.findings[0].verdict.partition(": ")
    assert f'<h2 id="verdict"><bdi>{words}</bdi></h2>' in text
    assert figures[1:] in flat
    for line in (line for finding in example.findings for line in finding.evidence):
        assert " ".join(line.split()) in flat


def test_every_figure_is_there_once(text, example):
    for drawing in report.report(example).drawings:
        assert text.count(f'id="figure-{drawing.name}"') == 1
    reader = Reader(text)
    images = [attrs for tag, attrs in reader.elements if tag == "svg" and attrs.get("aria-hidden") != "true"]
    charts = [attrs for tag, attrs in reader.elements if tag == "table" and "strip" in attrs.get("class", "").split()]
    assert len(images) + len(charts) == len(report.report(example).drawings)
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in images)


def test_the_first_chart_has_the_figures_of_the_verdict(text, example):
    results = example.results
    strongest = 1 + int(results.verdict.strongest[0])
    chart = text[text.index('id="figure-floors"') : text.index('<section id="findings"')]
    main = re.findall(r'<tr class="main">.*?<td class="value">(.*?)</td>', chart, re.DOTALL)
    for shown, scores, number in zip(main, (results.scores, results.strongest_scores), (0, strongest), strict=True):
        low, high = 100 * results.ci95[number, 0]
        assert shown == f"{100 * scores.value('R@1,IoU=0.5'):.1f} <small>{low:.1f} to {high:.1f}</small>"


def test_the_table_has_each_figure_with_its_interval(text, example):
    results = example.results
    percent = results.setup.protocol.percent
    table = text[text.index('id="table-figures-1-caption"') : text.index('id="table-figures-2-caption"')]
    for number, scores in enumerate([results.scores, *(r.scores for r in (*results.floors, *results.ceilings))]):
        for m, measure in enumerate(results.setup.measures[:-1]):
            low, high = results.ci95[number, m]
            star = "*" if number == 1 + int(results.verdict.strongest[m]) else ""
            assert f"{percent(scores.value(measure))}</bdi>{star}<small>{percent(low)}\u2013{percent(high)}<" in table


def test_undefined_is_said_with_its_reason(text, bare_text):
    text, bare_text = without_script(text), without_script(bare_text)
    assert text.count("no query has a reference that counts") >= 10  # long references: no system has a figure
    assert "the method&#39;s figure is 0 or undefined" in bare_text
    assert "nan" not in re.sub(r"<[^>]+>", " ", text).lower().split()
    assert "NaN" not in text + bare_text


def test_what_is_needed_to_make_it_again_stands_at_the_end(text, example):
    end = text[text.index("<footer>") :]
    setup = example.results.setup
    assert html.escape(report.report(example).signature) in end
    assert "seed:0" in end
    for digest in (example.sources["sha256"], setup.annotations.sha256, setup.splits.train.sha256):
        assert digest in end
    assert "truemoment audit examples/x.jsonl" in end


def test_the_gate_is_shown_only_where_there_is_one(text, bare_text):
    gate = text[text.index('<section id="gate"') : text.index('<section id="reading"')]
    assert re.findall(r"mIoU&gt;=\S+ (\w+): ", gate) == ["fails", "passes"]
    assert 'id="gate"' not in bare_text
    assert "#gate" not in bare_text


# ------------------------------------------------------------------------------------------ what it is


@pytest.mark.parametrize("which", ["text", "hostile_text", "bare_text", "words_text"])
def test_it_is_whole_and_needs_nothing_else(request, which):
    page = without_script(request.getfixturevalue(which))
    reader = Reader(page)
    assert reader.faults == []
    tags = {tag for tag, _ in reader.elements}
    assert not tags & {
        "script",
        "img",
        "iframe",
        "object",
        "embed",
        "video",
        "form",
        "base",
        "b",
        "i",
        "button",
        "input",
    }
    for _, attrs in reader.elements:
        assert not [name for name in attrs if name.startswith("on") or name in ("src", "srcset", "action")]
        assert (attrs.get("href") or "#").startswith(("#", "data:"))
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    assert not re.search(r"@import|url\(", style)
    assert not re.search(r"url\((?!#)", page)
    assert "http:" not in page
    assert "https:" not in page
    assert len(page.encode("utf-8")) < 700_000


@pytest.mark.parametrize("which", ["text", "hostile_text", "bare_text", "words_text"])
def test_names_of_parts_are_unique_and_links_lead_somewhere(request, which):
    reader = Reader(request.getfixturevalue(which))
    ids = [attrs["id"] for _, attrs in reader.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    for _, attrs in reader.elements:
        targets = [attrs["href"][1:]] if (attrs.get("href") or "").startswith("#") else []
        for name in ("aria-labelledby", "clip-path", "style"):
            value = attrs.get(name) or ""
            targets += re.findall(r"url\(#([^)]+)\)", value) if name != "aria-labelledby" else value.split()
        assert set(targets) <= set(ids)


def test_text_from_outside_cannot_break_out(hostile_text):
    assert "&lt;script&gt;" in hostile_text
    assert "<b>" not in hostile_text
    assert "49" not in Reader(hostile_text).texts_of("blockquote")  # {{ 7 * 7 }} is not run
    for hidden in "\x00\x1b\x07\u202e\u200f\ud800":
        assert hidden not in hostile_text
    hostile_text.encode("utf-8")


def test_unread_answers_cannot_break_out(words_text, in_words):
    """The first three hostile texts are the examples."""
    [unread] = [one for one in in_words.findings if one.check == "unread-share"]
    assert "<script>alert(1)</script>" in " ".join(unread.evidence)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in words_text


def test_what_text_only_is_is_told_where_it_is_given(words_text, text):
    for words in (
        "<dt>Text only</dt>",
        "<dt>Answers in words</dt>",
        "<h4><bdi>Without the frames</bdi></h4>",
        "text only (no frames)",
    ):
        assert words in words_text
        assert words not in text
    assert "6 more queries without a moment" in words_text
    end = words_text[words_text.index("<footer>") :]
    assert "cd" * 32 in end
    assert end.count("<dt>SHA-256, ") == 5  # predictions, text-only, test, test with a moment, train


def test_tables_that_scroll_can_be_reached_by_keyboard(text):
    regions = [attrs for _, attrs in Reader(text).elements if "scroll" in (attrs.get("class") or "").split()]
    assert regions
    assert all(a["role"] == "region" and a["tabindex"] == "0" and a["aria-labelledby"] for a in regions)


def luminance(colour: str) -> float:
    """WCAG 2.2: relative luminance of #rrggbb."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_colours_can_be_read(text, theme):
    """WCAG 2.2, 1.4.3 and 1.4.11: 4.5 to 1 for text, 3 to 1 for what is drawn."""
    blocks = re.findall(r":root \{(.*?)\}", text, re.DOTALL)
    assert len(blocks) == 2
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", blocks[0]))
    assert theme == 0 or set(re.findall(r"--([\w-]+):", blocks[1])) == set(colours)
    colours |= dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", blocks[theme]))

    def contrast(one: str, other: str) -> float:
        dark, light = sorted((luminance(colours[one]), luminance(colours[other])))
        return (light + 0.05) / (dark + 0.05)

    for name in ("ink", "soft", "accent", "serious", "warning", "note", "good"):
        assert contrast(name, "paper") >= 4.5, name
    assert contrast("ink", "floor-faint") >= 4.5
    for name in ("method", "floor", "other", "ceiling"):
        assert contrast(name, "paper") >= 3, name


# -------------------------------------------------------------------------------------------- examples


def test_examples_are_chosen_by_the_rule(example):
    """By loops over the queries: what each example is said to be, it is, and no query of a smaller hash is."""
    results, found = example.results, examples(example.results, example.results.cached(errors.errors))
    case = results.setup
    assert 0 < len(found) <= 8
    assert len({one.query_id for one in found}) == len(found)

    def first(predictions, query_id):
        row = list(predictions.query_id).index(query_id)
        low, high = predictions.offsets[row : row + 2]
        ranked = sorted(range(low, high), key=lambda at: -predictions.score[at])
        return (predictions.start_s[ranked[0]], predictions.end_s[ranked[0]]) if ranked else (0.0, 0.0)

    def iou(a, b):
        overlap = min(a[1], b[1]) - max(a[0], b[0])
        return max(overlap, 0) / (max(a[1], b[1]) - min(a[0], b[0])) if overlap > 0 else 0.0

    annotations = case.annotations
    reference = dict(zip(annotations.query_id, zip(annotations.start_s, annotations.end_s, strict=True), strict=True))
    hits = {q for q in reference if iou(first(case.predictions, q), reference[q]) > 0.5}
    floor_hits = {
        q
        for q in reference
        if iou(first(results.floors[int(results.verdict.strongest[0])].predictions, q), reference[q]) > 0.5
    }
    order = sorted(reference, key=lambda q: hashlib.sha256(q.encode()).digest())
    expected = [q for q in order if q in hits - floor_hits][:2]
    assert [one.query_id for one in found if one.why == "a hit where the floor misses"] == expected
    misses = [one for one in found if one.why.startswith("a miss: ")]
    assert misses
    for one in misses:
        assert one.query_id not in hits
    wrong_place = [q for q in order if iou(first(case.predictions, q), reference[q]) == 0 and q not in hits]
    [shown] = [one.query_id for one in misses if one.why == "a miss: wrong place"]
    assert shown in wrong_place


def test_a_hit_of_the_floor_too_is_just_a_hit(whole):
    """Nine references are the whole video, which PredictAll answers; the tenth is 8 s of 30."""
    why = {one.query_id: one.why for one in examples(whole.results, whole.results.cached(errors.errors))}
    assert why.pop("v9#0") == "a hit where the floor misses"
    assert len(why) == 7
    assert set(why.values()) == {"a hit"}


@pytest.mark.parametrize("which", ["example", "hostile", "bare"])
def test_bars_lie_on_their_line(request, which):
    results = request.getfixturevalue(which).results
    for one in map(render._time_line, examples(results, results.cached(errors.errors))):
        assert 100 / render.BEYOND - 1e-9 <= one.end_of_video <= 100
        for bar in one.bars:
            assert bar.left is None or 0 <= bar.left <= bar.left + bar.width <= 100 + 1e-9
            if bar.past_left is not None:
                assert bar.past_left >= one.end_of_video - 1e-9
                assert "past the end of the video" in bar.note


def test_bars_say_what_is_wrong_with_a_moment():
    def bar(start_s, end_s):
        return render._bar(Bar("prediction", "answer 1", start_s, end_s), duration_s=20.0, line_s=25.0)

    assert bar(5.0, 10.0)[2:7] == ("5.0\u201310.0 s", "", 20.0, 20.0, None)  # quarters of the line, by hand
    assert (bar(15.0, 25.0).note, *bar(15.0, 25.0)[4:]) == ("past the end of the video", 60.0, 40.0, 80.0, 20.0)
    assert bar(15.0, 1e8).note == "past the end of the video, further than is drawn"
    assert bar(15.0, 1e8).times == "15.0\u2013100,000,000.0 s"
    assert bar(30.0, 40.0).left is bar(30.0, 40.0).past_left is None
    assert bar(9.0, 4.0).note == "ends before it starts"
    assert (bar(9.0, 4.0).left, bar(9.0, 4.0).width) == (16.0, 20.0)
    assert bar(4.0, 4.0).note == "has no length"


# --------------------------------------------------------------------------------------- in a browser

MEASURE = """
<!DOCTYPE html><meta charset="utf-8"><body style="margin:0"><pre id="found"></pre><script>
const found = [], wanted = FRAMES;
function look(frame, name, width) {
  const page = frame.contentDocument, out = [];
  for (const element of page.querySelectorAll("body *")) {
    const box = element.getBoundingClientRect();
    if (element.closest(".skip") || !box.width || (element.closest(".scroll") && !element.matches(".scroll"))) continue;
    if (box.right > width + 1 || box.left < -1) out.push(element.tagName + " " + element.textContent.slice(0, 40));
  }
  for (const svg of page.querySelectorAll("svg:not(.ticks svg)")) {
    const frame = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll("text")) {
      const box = text.getBoundingClientRect();
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1
          || box.bottom > frame.bottom + 1) out.push(svg.getAttribute("aria-label") + ": " + text.textContent);
    }
  }
  const drawn = [...page.querySelectorAll("figure > svg, table.strip")].filter(chart => {
    const box = chart.getBoundingClientRect();
    return box.width > 250 && box.height > 70 && chart.querySelectorAll("path, use").length > 1;
  });
  found.push({name, width, scroll: page.documentElement.scrollWidth, out, figures: drawn.length});
  if (found.length == wanted.length) document.getElementById("found").textContent = JSON.stringify(found);
}
for (const [name, width] of wanted) {
  const frame = document.createElement("iframe");
  frame.style = "border:0;display:block;height:700px;width:" + width + "px";
  frame.onload = () => look(frame, name, width);
  frame.src = name;
  document.body.append(frame);
}
</script>
"""

CONTROL = """<!DOCTYPE html><p style="width:3000px">too wide</p>
<svg aria-label="a figure" width="100" height="20"><text x="90" y="15">beyond</text></svg>
<script>console.error("planted")</script>"""


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium, chromium-browser or google-chrome on this machine")
def test_in_a_browser_nothing_overflows_and_nothing_complains(tmp_path, request):
    audits = {"text": "example", "hostile_text": "hostile", "words_text": "in_words"}
    pages = {f"{audits[text]}.html": request.getfixturevalue(text) for text in audits} | {"control.html": CONTROL}
    frames = [(name, width) for name in pages for width in (400, 1400)]
    for name, shown in (pages | {"measure.html": MEASURE.replace("FRAMES", json.dumps(frames))}).items():
        (tmp_path / name).write_text(shown, encoding="utf-8")
    run = subprocess.run(
        [
            *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"),
            *("--disable-background-networking", "--disable-quic", "--disable-component-update"),
            *("--allow-file-access-from-files", f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging=stderr"),
            *(
                "--window-size=1500,900",
                "--virtual-time-budget=10000",
                "--dump-dom",
                (tmp_path / "measure.html").as_uri(),
            ),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found = {
        (one["name"], one["width"]): one
        for one in json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', run.stdout, re.DOTALL)[1]))
    }
    assert set(found) == set(frames)
    # The control shows that what is looked for is found.
    assert found["control.html", 400]["scroll"] > 1000
    assert found["control.html", 400]["out"] == ["P too wide", "a figure: beyond"]
    complaints = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    assert any("planted" in line for line in complaints)
    assert [line for line in complaints if "control.html" not in line] == []
    for audit in audits.values():
        name, of = f"{audit}.html", request.getfixturevalue(audit)
        for width in (400, 1400):
            one = found[name, width]
            assert (one["scroll"], one["out"]) == (width, [])
            assert one["figures"] == len(report.report(of).drawings)
