"""truemoment meta stability: from files to sentences, JSON, figures and a page."""

import json
from pathlib import Path

import pytest

WORDS = ("runs", "--annotations", "mine.jsonl", "--split", "test", "--measures", "R@1,IoU=0.5; AxIoU@5")


@pytest.fixture
def study(call):
    """Run it with --json -; it must end well, and say nothing else. Returns its part of the document."""

    def run_words(*words):
        status, out, err = call("meta", "stability", *WORDS, "--json", "-", "--quiet", *words)
        assert (status, err) == (0, "")
        return json.loads(out)["studies"]["stability"]

    return run_words


@pytest.mark.usefixtures("undrawn")
@pytest.mark.usefixtures("three_runs")
def test_is_told_and_written(call, tmp_path):
    status, out, err = call(
        *("meta", "stability", *WORDS, "--sizes", "4,12", "--trials", "40"),
        *("--json", "stability.json", "--figures", "figures", "--html", "page.html"),
    )
    assert (status, err) == (0, "")
    found = json.loads((tmp_path / "stability.json").read_text())["studies"]["stability"]
    assert (found["sizes"], found["queries"], found["trials"]) == ([4, 12], [4, 12], 40)
    assert (found["unit"], found["subsets"], found["n_systems"]) == ("query", "disjoint", 3)
    mean = [entry["mean_tau"][1] for entry in found["measures"]]
    assert f"(mean tau) is {min(mean):.2f}" in " ".join(out.split())
    names = [f"stability-{name}.{kind}" for name in ("mean", "variance") for kind in ("pdf", "png", "svg")]
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == names
    assert "Self-agreement" in (tmp_path / "page.html").read_text()


@pytest.mark.usefixtures("three_runs")
def test_is_what_the_library_finds(study):
    """The study has a stream of its own, whatever else the seed is used for."""
    from truemoment import read_annotations, read_predictions
    from truemoment.evaluation.evaluate import evaluate
    from truemoment.evaluation.uncertainty import stream
    from truemoment.studies.meta.stability import stability
    from truemoment.studies.meta.systems import Systems

    annotations = read_annotations(Path("mine.jsonl"), "test")
    scores = {
        name: evaluate(
            annotations, read_predictions(Path(f"runs/{name}.jsonl"), annotations)[0], "R@1,IoU=0.5; AxIoU@5"
        )
        for name in "abc"
    }
    expected = stability(Systems(scores), stream(5, "stability"), sizes=[3, 9], trials=60)
    found = study("--sizes", "9,3", "--trials", "60", "--seed", "5")
    assert [entry["mean_tau"] for entry in found["measures"]] == expected.mean.T.tolist()
    assert [entry["variance"] for entry in found["measures"]] == expected.variance.T.tolist()
    assert [entry["undefined_share"] for entry in found["measures"]] == expected.undefined.T.tolist()


@pytest.mark.usefixtures("three_runs")
def test_default_sizes_end_at_half(study):
    """24 queries are fewer than the 50 that sizes begin with: one size is left, half of them."""
    assert study("--trials", "5")["queries"] == [12]
    assert study("--trials", "5", "--overlapping")["queries"] == [24]


@pytest.mark.usefixtures("three_runs")
def test_by_video_sizes_are_still_queries(study):
    """Two queries a video: 8 queries are 4 videos."""
    found = study("--trials", "20", "--by", "video", "--sizes", "8,12")
    assert (found["unit"], found["sizes"], found["queries"]) == ("video", [4, 6], [8, 12])


@pytest.mark.usefixtures("three_runs")
def test_overlapping_at_full_size_agrees_with_itself(study):
    found = study("--trials", "20", "--overlapping", "--sizes", "24")
    assert found["subsets"] == "overlapping"
    assert [entry["mean_tau"] for entry in found["measures"]] == [[1.0], [1.0]]


@pytest.mark.usefixtures("three_runs")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--sizes", "0"), "got '0', expected whole numbers as in 50,100,200"),
        (("--sizes", "abc"), "got 'abc'"),
        (("--sizes", ""), "got ''"),
        (("--sizes", "5,"), "got '5,'"),
        (("--sizes", "-5"), "got '-5'"),
        (("--sizes", "1.5"), "got '1.5'"),
        (("--sizes", "²"), "got '²'"),
        (("--sizes", "13"), "a subset of 13"),
        (("--sizes", "25", "--overlapping"), "a subset of 25 queries, expected at most the 24"),
        (("--sizes", "999999999999"), "expected at most the 24"),
        (("--trials", "1"), "--trials"),
        (("--workers", "0"), "--workers"),
        (("--by", "word"), "--by"),
        (("--seed", "-1"), "--seed"),
    ],
)
def test_bad_options_are_one_line(fails, words, said):
    assert said in fails(2, "meta", "stability", *WORDS, *words)


@pytest.mark.usefixtures("three_runs")
def test_sizes_by_video_are_refused_in_queries(fails):
    """20 queries were asked for: the line must not speak of 10, which nobody asked for, alone."""
    assert "20" in fails(2, "meta", "stability", *WORDS, "--by", "video", "--sizes", "20")


def test_one_video_cannot_be_split(tmp_path, monkeypatch, fails):
    monkeypatch.chdir(tmp_path)
    row = {"video_id": "v", "duration_s": 40, "moments": [[1, 9]]}
    rows = [json.dumps(row | {"sentence": f"door {i}"}) for i in range(3)]
    (tmp_path / "mine.jsonl").write_text("\n".join(rows) + "\n")
    for name in "ab":
        (tmp_path / f"{name}.jsonl").write_text('{"query_id": "v#0", "moments": [[1, 9, 1]]}\n')
    words = ("a.jsonl", "b.jsonl", "--annotations", "mine.jsonl", "--by", "video")
    assert "got 1 video, expected 2 or more" in fails(2, "meta", "stability", *words)
