"""truemoment humans: what it prints, what it writes, what it refuses."""

import csv
import json
import re
from pathlib import Path

import pytest
from matplotlib.text import Text

from truemoment.studies.humans.timelines import Timeline, TimelineRow, timeline_figure

DOCS = Path(__file__).resolve().parents[2] / "docs"


def line(query, moments, annotators, **more):
    return {
        "query_id": f"v{query}#0",
        "video_id": f"v{query}",
        "duration_s": 40.0,
        "sentence": f"sentence {query}",
        "moments": moments,
        **({"annotators": annotators} if annotators else {}),
        **more,
    }


@pytest.fixture
def write(tmp_path):
    """Write JSON Lines: write("marked.jsonl", [...]) -> path."""

    def lines(name, entries):
        path = tmp_path / name
        path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        return path

    return lines


@pytest.fixture
def marked(write):
    """Twelve queries of three annotators, one of two, one of one."""
    three = [line(q, [[q, q + 6], [q + 1, q + 6], [q, q + 8 + q % 3]], ["ann", "bob", "eve"]) for q in range(12)]
    return write("marked.jsonl", [*three, line(12, [[0, 4], [2, 6]], ["ann", "bob"]), line(13, [[0, 4]], ["ann"])])


@pytest.fixture
def official(write):
    return write("official.jsonl", [line(q, [[q, q + 7]], None) for q in range(12)])


@pytest.fixture
def answers(write):
    """Two prediction files: one near the annotators, one not."""
    near = write("near.jsonl", [{"query_id": f"v{q}#0", "moments": [[q, q + 6.5]]} for q in range(12)])
    far = write("far.jsonl", [{"query_id": f"v{q}#0", "moments": [[20, 40]]} for q in range(12)])
    return near, far


FEW = ("--measures", "R@1,IoU=0.5; mIoU", "--resamples", "20", "--permutations", "200", "--draws", "10", "--full")


class TestTables:
    def test_without_official_references(self, call, marked):
        status, out, err = call("humans", "--annotations", marked, *FEW)
        assert (status, err) == (0, "")
        lines = out.splitlines()
        assert lines[0] == "data  marked.jsonl/all: 13 queries, 13 videos, 12 with 3 annotators, 1 with 2 annotators"
        assert "nearest annotator" in lines
        assert "by agreement" not in out  # people are ranked against official references only
        against_one = out[out.index("\none annotator\n") :]
        assert re.search(r"^consensus of the others +\d+\.\d+ +\d+\.\d+ +13\n95 % interval", against_one, re.MULTILINE)
        assert "note: 1 query is left out: one annotator" in lines
        assert re.search(r"note: 13 videos: intervals from so few are too narrow", out)

    @pytest.mark.parametrize(
        ("protocol", "effect"),
        [
            ("default", "it is measured as it was marked, where no system can answer"),
            ("closer-look", "the protocol clips it"),
        ],
    )
    def test_moments_before_the_video_are_reported(self, call, write, protocol, effect):
        moments = [[[-2, 3], [-2, 3]], [[0, 5], [1, 5]], [[-1, 5], [1, 5]]]
        path = write("marked.jsonl", [line(q, of_query, ["a", "b"]) for q, of_query in enumerate(moments)])
        out = call("humans", "--annotations", path, "--protocol", protocol, *FEW)[1]
        note = f"note: 2 queries have a moment of an annotator that begins before 0 s; {effect}"
        assert note in " ".join(out.split())

    def test_what_survives(self, call, marked, official, answers):
        status, out, _ = call("humans", *answers, "--annotations", marked, "--official-annotations", official, *FEW)
        assert status == 0
        assert re.search(r"mIoU\nnear - far .* survives", out)
        assert "*: significant at 5 %" in out


def documented(heading):
    """Names in the first column of the table below a heading of docs/json-judging.md."""
    _, _, below = (DOCS / "json-judging.md").read_text(encoding="utf-8").partition(f"\n{heading}\n")
    table = re.search(r"^\|(?:.*\n)+?(?=\n)", below, re.MULTILINE)[0]
    rows = [row.split("|")[1] for row in table.splitlines()[2:]]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


class TestJson:
    @pytest.fixture
    def document(self, call, marked, official, answers):
        words = ("humans", *answers, "--annotations", marked, "--official-annotations", official, "--json", "-")
        status, out, _ = call(*words, *FEW)
        assert status == 0
        return json.loads(out)

    def test_every_field_is_explained(self, document):
        names = set(document)
        for name in ("annotators", "agreement", "humans", "systems", "conclusions"):
            entries = document[name] if isinstance(document[name], list) else [document[name]]
            names |= {f"{name}.{key}" for entry in entries for key in entry}
        assert documented("## What `humans` writes") == names

    def test_figures(self, document):
        assert document["schema"] == "truemoment/humans/1"
        assert document["official"]["dataset"] == "official.jsonl"
        assert document["annotators"]["queries_by_count"] == {"3": 12}  # official.jsonl lacks v12
        assert document["annotators"]["without_official"] == 1
        assert len(document["agreement"]["by_query"]) == 12
        assert -1 <= document["agreement"]["alpha"]["moment"]["value"] <= 1
        random = document["humans"][0]
        assert (random["way"], random["person"], random["rank"]) == ("official", "random", None)
        for figure in random["measures"]:
            assert set(figure) == {
                *("measure", "value", "unit", "ci95", "mean_of_draws", "spread"),
                *("n_queries", "n_videos", "signature"),
            }
            assert figure["ci95"][0] <= figure["value"] <= figure["ci95"][1]
        assert [entry["system"] for entry in document["systems"]] == ["near", "far"]
        assert [way["way"] for way in document["systems"][0]["against"]] == [
            *("official", "nearest", "representative", "another")
        ]
        assert document["conclusions"][0]["fate"] == "survives"

    def test_unknown_durations_leave_alpha_undefined(self, call, write):
        entries = [line(q, [[q, q + 6], [q, q + 5]], ["a", "b"], duration_s=None) for q in range(4)]
        path = write("marked.jsonl", entries)
        words = ("humans", "--annotations", path, "--measures", "mIoU", "--resamples", "20", "--json", "-")
        status, out, err = call(*words)
        assert status == 0
        alpha = json.loads(out)["agreement"]["alpha"]["moment"]
        assert alpha == {"value": None, "why": "durations are not known, and alpha compares shares of videos"}
        assert "note: no alpha: some durations are unknown" in err


class TestRefused:
    def test_no_annotators(self, fails, official):
        said = "official.jsonl/all: no annotators are named, expected two or more a query"
        assert fails(2, "humans", "--annotations", official) == said

    def test_one_annotator(self, fails, write):
        path = write("one.jsonl", [line(0, [[0, 4]], ["ann"])])
        said = "one.jsonl/all: no query has more than one annotator, expected two or more"
        assert fails(2, "humans", "--annotations", path) == said

    def test_answers_to_none_of_these_queries(self, fails, marked, write, official):
        more = write("more.jsonl", [*map(json.loads, official.read_text().splitlines()), line(99, [[0, 1]], None)])
        other = write("other.jsonl", [{"query_id": "v99#0", "moments": [[0, 1]]}])
        words = ("humans", other, "--annotations", marked, "--official-annotations", more, *FEW)
        assert fails(2, *words) == (
            "other: answers none of the 12 queries of marked.jsonl/all that several annotators marked"
        )

    def test_unknown_rows(self, fails, marked, write):
        other = write("other.jsonl", [{"query_id": "x#0", "moments": [[0, 1]]}])
        assert "1 of 1 rows belong to no query of marked.jsonl/all" in fails(
            2, "humans", other, "--annotations", marked
        )

    def test_official_references_of_other_queries(self, fails, marked, write):
        path = write("else.jsonl", [line(77, [[0, 4]], None)])
        said = fails(2, "humans", "--annotations", marked, "--official-annotations", path)
        assert said == (
            "else.jsonl/all has none of the queries of marked.jsonl/all (the first is 'v0#0'); "
            "is it the right official split?"
        )

    def test_official_references_that_ask_for_something_else(self, fails, marked, write):
        path = write("else.jsonl", [line(0, [[0, 4]], None, sentence="another")])
        said = fails(2, "humans", "--annotations", marked, "--official-annotations", path)
        assert said.startswith("field query_id: query 'v0#0' is 'sentence 0' on video 'v0', but 'another' on video")

    @pytest.mark.parametrize("named", ["charades-sta", "/test", "charades-sta/"])
    def test_official_that_is_no_split(self, fails, marked, named):
        said = fails(2, "humans", "--annotations", marked, "--official", named)
        assert said == f"--official: got {named!r}, expected DATASET/SPLIT, e.g. charades-sta/test, or none"

    def test_two_official_references(self, fails, marked, official):
        words = ("humans", "--annotations", marked, "--official", "none", "--official-annotations", official)
        assert fails(2, *words) == "got --official and --official-annotations, expected one of them"

    def test_measures_of_several_answers(self, fails, marked):
        said = fails(2, "humans", "--annotations", marked, "--measures", "R@5,IoU=0.5")
        assert said.startswith("R@5,IoU=0.5: an annotator gives one answer, expected measures of the first answer")

    def test_two_files_of_one_name(self, fails, marked, answers):
        said = fails(2, "humans", f"a={answers[0]}", f"a={answers[1]}", "--annotations", marked)
        assert said.endswith("would both have the name 'a'; give NAME=FILE, a name each")

    @pytest.mark.parametrize("word", ["=x.jsonl", "a="])
    def test_half_a_name(self, fails, marked, word):
        assert fails(2, "humans", word, "--annotations", marked) == f"got {word!r}, expected NAME=FILE, or FILE"

    @pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"{", b'{"video_id": "v"}', b"[1, 2]", b"\x00" * 100])
    def test_hostile_files(self, fails, tmp_path, marked, content):
        path = tmp_path / "bad.jsonl"
        path.write_bytes(content)
        assert "bad.jsonl" in fails(2, "humans", "--annotations", path)
        assert "bad.jsonl" in fails(2, "humans", "--annotations", marked, "--official-annotations", path)
        assert "bad.jsonl" in fails(2, "humans", path, "--annotations", marked)


@pytest.mark.data
def test_charades(call, data_dir):
    # Hidden Challenges, Tables 1 and 2, with the published deviations; the official references are known.
    if not (data_dir / "human-charades").is_dir():
        pytest.skip(f"no real files in {data_dir / 'human-charades'}")
    words = (
        "humans",
        "--dataset",
        "human-charades",
        "--split",
        "test",
        "--data-dir",
        data_dir,
        "--json",
        "-",
        "--quiet",
    )
    status, out, _ = call(*words, "--resamples", "100")
    assert status == 0
    found = {
        (entry["way"], entry["person"], entry["rank"]): {of["measure"]: of for of in entry["measures"]}
        for entry in json.loads(out)["humans"]
    }
    at_half = "R@1,IoU=0.5"
    assert found["official", "random", None][at_half]["mean_of_draws"] == pytest.approx(0.428, abs=0.0105)
    assert found["official", "by agreement", 1][at_half]["value"] == pytest.approx(0.521)
    assert found["nearest", "random", None][at_half]["mean_of_draws"] == pytest.approx(0.833, abs=0.01)
    assert found["representative", "random", None][at_half]["mean_of_draws"] == pytest.approx(0.668, abs=0.013)


class TestTimelines:
    @pytest.mark.usefixtures("undrawn")
    def test_the_queries_of_least_agreement_are_drawn_with_their_numbers(
        self, call, write, official, answers, tmp_path
    ):
        entries = [line(q, [[q, q + 6], [q, q + 6], [q, q + 6]], ["ann", "bob", "eve"]) for q in range(12)]
        entries[7]["moments"] = [[0, 4], [10, 14], [20, 24]]  # nobody agrees
        entries[3]["moments"] = [[3, 9], [3, 9], [20, 24]]
        marked = write("three.jsonl", entries)
        near, far = answers
        words = ("humans", near, far, "--annotations", marked, "--official-annotations", official, *FEW)
        figures = tmp_path / "figures"
        status, _, err = call(*words, "--timelines", "2", "--figures", figures, "--quiet")
        assert (status, err) == (0, "")
        names = {path.name for path in figures.iterdir()}
        assert names == {f"timeline-{n}.{end}" for n in (1, 2) for end in ("png", "svg", "pdf", "csv")}
        first, second = (list(csv.DictReader((figures / f"timeline-{n}.csv").read_text().splitlines())) for n in (1, 2))
        assert {row["query_id"] for row in first} == {"v7#0"}
        assert {row["query_id"] for row in second} == {"v3#0"}
        assert [(row["kind"], row["name"]) for row in first] == [
            ("reference", "reference"),
            *(("annotator", name) for name in ("ann", "bob", "eve")),
            ("system", "near"),
            ("system", "far"),
        ]
        iou = {row["name"]: row["iou"] for row in first}
        assert float(iou["near"]) == pytest.approx(6.5 / 7)  # (7, 13.5) and (7, 14)
        assert (float(iou["bob"]), iou["reference"]) == (4 / 7, "")  # (10, 14) lies inside

    def test_a_sentence_is_wrapped_by_its_width(self):
        rows = (TimelineRow("annotator", "A2WNW4MOUNTAINVIEWWM", 1.0, 2.0, 0.5),)
        for sentence in (
            "a person takes a sandwich out of a bag and eats it near the window" + " WWWW" * 30,
            "W" * 120,
        ):
            figure = timeline_figure(Timeline("q", "v", sentence, 30.0, 0.5, rows))
            figure.canvas.draw()
            texts = [text for text in figure.findobj(Text) if text.get_text().strip()]
            assert all(figure.bbox.padded(0.5).containsx(text.get_window_extent().x1) for text in texts)
            assert any("".join(text.get_text().split()) == sentence.replace(" ", "") for text in texts)

    @pytest.mark.usefixtures("undrawn")
    def test_without_references_the_iou_is_that_with_the_others(self, call, marked, tmp_path):
        status, _, _ = call(
            "humans", "--annotations", marked, *FEW, "--figures", tmp_path, "--timelines", "1", "--quiet"
        )
        assert status == 0
        rows = list(csv.DictReader((tmp_path / "timeline-1.csv").read_text().splitlines()))
        assert {row["query_id"] for row in rows} == {"v12#0"}  # (0, 4) and (2, 6): 1/3
        assert [float(row["iou"]) for row in rows] == pytest.approx([1 / 3, 1 / 3])


def test_each_system_is_in_the_first_lines(call, marked, official, answers):
    """The main part in 25 lines had the agreement of annotators only, and nothing of the predictions."""
    status, out, _ = call("humans", f"near={answers[0]}", "--annotations", marked, "--official-annotations", official)
    assert status == 0
    words = " ".join(out.partition("Agreement of annotators")[0].split())
    assert re.fullmatch(
        r"near scores 100\.00 at R@1,IoU=0\.5 against official.jsonl/all; a random annotator scores "
        r"\d+\.\d\d \(95 % interval \d+\.\d\d to \d+\.\d\d\)\.",
        words,
    )
