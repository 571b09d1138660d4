"""truemoment meta ambiguity: from files to sentences, JSON, figures and a page."""

import json
from pathlib import Path

import pytest

DATA = ("--annotations", "mine.jsonl", "--split", "test")
WORDS = ("runs", *DATA, "--measures", "R@1,IoU=0.7; AxIoU@5", "--sets", "5")


@pytest.fixture
def people(three_runs):
    """30 queries that two people marked, half a second to two seconds apart."""
    rows = []
    for i in range(30):
        marked = [[5 + i % 9, 15 + i % 7], [5.5 + i % 9, 17 + i % 7]]
        row = {"video_id": f"p{i}", "sentence": "a door", "duration_s": 40, "moments": marked, "annotators": ["x", "y"]}
        rows.append(json.dumps(row))
    (three_runs / "people.jsonl").write_text("\n".join(rows) + "\n")
    return three_runs / "people.jsonl"


@pytest.fixture
def study(call):
    """Run it with --json -; it must end well, and say nothing else. Returns the studies by name."""

    def run_words(*words):
        status, out, err = call("meta", "ambiguity", *WORDS, "--json", "-", "--quiet", *words)
        assert (status, err) == (0, "")
        return json.loads(out)["studies"]

    return run_words


@pytest.mark.usefixtures("undrawn")
@pytest.mark.usefixtures("three_runs")
def test_is_told_and_written(call, tmp_path):
    status, out, err = call(
        *("meta", "ambiguity", *WORDS, "--json", "found.json", "--figures", "figures", "--html", "page.html", "--full")
    )
    assert (status, err) == (0, "")
    studies = json.loads((tmp_path / "found.json").read_text())["studies"]
    assert list(studies) == ["ambiguity-published", "ambiguity-shift"]
    for study in studies.values():
        assert [level["level"] for level in study["levels"]] == [f"variance {v} s²" for v in (1, 2, 3, 4)]
        assert study["sets"] == 5
        iou = [level["mean_iou"] for level in study["levels"]]
        assert iou == sorted(iou, reverse=True)
    told = " ".join(out.split())
    assert f"IoU {studies['ambiguity-shift']['levels'][-1]['mean_iou']:.2f} with" in told
    drawn = {path.name for path in (tmp_path / "figures").iterdir()}
    kinds = {f"ambiguity-{m}-{k}.png" for m in ("published", "shift") for k in ("rmse", "places")}
    assert kinds <= drawn
    assert "How figures change with other annotators" in (tmp_path / "page.html").read_text()


@pytest.mark.usefixtures("three_runs")
def test_is_what_the_library_finds(study):
    """The study has a stream of its own, and of that each model a child, shift the second."""
    from truemoment import read_annotations, read_predictions
    from truemoment.evaluation.uncertainty import stream
    from truemoment.studies.meta.ambiguity import ambiguity
    from truemoment.studies.meta.noise import VARIANCES_S2, ShiftNoise

    annotations = read_annotations(Path("mine.jsonl"), "test")
    answers = {name: read_predictions(Path(f"runs/{name}.jsonl"), annotations)[0] for name in "abc"}
    rng = stream(3, "ambiguity").spawn(3)[1]
    models = [ShiftNoise(variance_s2) for variance_s2 in VARIANCES_S2]
    expected = ambiguity(annotations, answers, models, rng, measures="R@1,IoU=0.7; AxIoU@5", sets=5)
    found = study("--noise", "shift", "--seed", "3")["ambiguity-shift"]
    assert found["original"] == expected.original.tolist()
    for told, level in zip(found["levels"], expected.levels, strict=True):
        assert told["rmse"] == level.rmse.tolist()
        assert told["mean_tau"] == level.tau.tolist()
        assert told["mean_iou"] == level.mean_iou


@pytest.mark.usefixtures("people")
def test_noise_is_learned_from_ones_own_annotators(study):
    """Naming people is asking for their noise, beside what else is asked for, each once."""
    found = study("--annotators", "people.jsonl")
    assert list(found) == ["ambiguity-published", "ambiguity-shift", "ambiguity-annotators"]
    learned = found["ambiguity-annotators"]
    assert [level["level"] for level in learned["levels"]] == [
        *("median of 5", "median of 3", "median of 2", "one annotator"),
    ]
    assert "people" in learned["learned_on"]
    words = ("--annotators", "people.jsonl", "--noise", "annotators", "--noise", "annotators")
    assert list(study(*words)) == ["ambiguity-annotators"]


@pytest.mark.usefixtures("three_runs")
def test_population_and_baselines_are_held_against_noise_too(study):
    found = study("--noise", "shift", "--baselines")["ambiguity-shift"]
    assert found["systems"][:3] == ["a", "b", "c"]
    assert len(found["systems"]) > 4


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--noise", "annotators"), "--noise annotators: also give --annotators NAME"),
        (("--annotators", "gone.jsonl"), "gone.jsonl"),
        (("--annotators", "mine.jsonl"), "mine"),  # nobody marked a query twice
        (("--noise", "nonsense"), "nonsense"),
        (("--sets", "1"), "--sets"),
        (("--workers", "0"), "--workers"),
        (("--json", "runs/b.jsonl"), "runs/b.jsonl: is read or written already"),
    ],
)
def test_bad_options_are_one_line(fails, words, said):
    assert said in fails(2, "meta", "ambiguity", *WORDS, *words)


def test_too_few_people_are_refused(people, fails):
    people.write_text("".join(people.read_text().splitlines(keepends=True)[:20]))
    line = fails(2, "meta", "ambiguity", *WORDS, "--annotators", "people.jsonl")
    assert "got 40 moments of queries with several annotators" in line


@pytest.mark.usefixtures("three_runs")
def test_saved_scores_are_refused(call, fails):
    words = ("evaluate", "runs/a.jsonl", *DATA, "--measures", "mIoU", "--save-scores", "runs/d.npz")
    assert call(*words)[0] == 0
    assert fails(2, "meta", "ambiguity", *WORDS).startswith("runs/d.npz: saved scores contain no predictions")


@pytest.mark.usefixtures("three_runs")
def test_clip_ratings_are_refused(fails):
    assert "clip ratings" in fails(2, "meta", "ambiguity", *WORDS[:-4], "--measures", "HIT@1,min=Good")


@pytest.mark.usefixtures("three_runs")
def test_files_that_noise_is_learned_from_are_not_written_over(fails, monkeypatch, tmp_path):
    """Those of a dataset as well as a file of one's own: the re-annotations, and what they re-annotate."""
    data = tmp_path / "data"
    for name in ("human-charades/test_00.csv", "charades-sta/charades_sta_test.txt"):
        (data / name).parent.mkdir(parents=True)
        (data / name).write_text("precious")
    monkeypatch.setenv("TRUEMOMENT_DATA", str(data))
    for name in ("human-charades/test_00.csv", "charades-sta/charades_sta_test.txt"):
        words = ("runs", "--annotations", "mine.jsonl", "--annotators", "human-charades", "--html", str(data / name))
        assert "is read or written already" in fails(2, "meta", "ambiguity", *words)
        assert (data / name).read_text() == "precious"
