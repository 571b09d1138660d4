"""truemoment compare: other splits, changed videos, floors and lengths beside the methods."""

import csv
import json

import pytest

MEASURES = ("--measures", "R@1,IoU=0.5; mIoU", "--resamples", "50", "--permutations", "100")


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Twelve queries a split, one a video of 40 s: references of 10 s in test, of 20 s in its second half."""
    monkeypatch.chdir(tmp_path)
    lines = []
    for split in ("test", "other", "train"):
        for i in range(12):
            moment = [10, 20] if i < 6 else [10, 30]
            about = {"query_id": f"{split}{i}", "video_id": f"{split}-v{i}", "sentence": "a door opens"}
            lines.append({**about, "duration_s": 40, "moments": [moment], "split": split})
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def answers(name, split, right):
        rows = (
            {"query_id": f"{split}{i}", "moments": [([10, 20] if i < 6 else [10, 30]) if i < right else [35, 40]]}
            for i in range(12)
        )
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    for name, split, right in (
        ("ours", "test", 9),
        ("base", "test", 3),
        ("shuffled", "test", 3),
        ("ours-1", "other", 12),
        ("ours-2", "other", 6),
    ):
        answers(name, split, right)
    return tmp_path


@pytest.fixture
def compare(call, world):  # noqa: ARG001 - the files are there
    def found(*words):
        given = ("compare", "ours.jsonl", "base.jsonl", "--annotations", "mine.jsonl", "--split", "test", *MEASURES)
        status, out, err = call(*given, "--json", "-", "--quiet", *words)
        assert status == 0, err
        return json.loads(out)

    return found


@pytest.fixture
def compare_fails(fails, world):  # noqa: ARG001 - the files are there
    given = ("compare", "ours.jsonl", "base.jsonl", "--annotations", "mine.jsonl", "--split", "test")
    return lambda *words: fails(2, *given, *words)


@pytest.mark.usefixtures("undrawn")
def test_another_split_is_measured_beside_the_compared_one(compare, world):
    (world / "again.jsonl").write_text((world / "mine.jsonl").read_text())
    for place in ("other", "again.jsonl/other"):
        runs = ("--on", place, "ours=ours-1.jsonl", "--on", place, "ours=ours-2.jsonl")
        document = compare("--fit-split", "none", *runs, "--figures", "figures")
        other, own = document["splits"]
        assert (other["split"], own["split"]) == (place, "test")
        (ours,) = other["methods"]  # base has no predictions there
        assert ours["measures"][0]["value"] == 0.75  # the mean of 12 and 6 of 12
        assert [len(of["runs"]) for of in (ours, *own["methods"])] == [2, 1, 1]
        assert [of["measures"][0]["value"] for of in own["methods"]] == [0.75, 0.25]
    rows = list(csv.DictReader((world / "figures" / "splits-1.csv").read_text().splitlines()))
    shown = [(row["split"], row["method"], float(row["value"])) for row in rows]
    assert shown == [("again.jsonl/other", "ours", 0.75), ("test", "ours", 0.75), ("test", "base", 0.25)]


def test_changed_videos_are_compared_with_the_original_ones(compare):
    words = ("--fit-split", "none", "--changed", "shuffled", "ours=shuffled.jsonl")
    document = compare(*words, "--changed", "frozen", "base=base.jsonl")
    shuffled, frozen = document["changed"]
    assert (shuffled["change"], shuffled["method"], frozen["change"]) == ("shuffled", "ours", "frozen")
    recall = shuffled["measures"][0]
    assert (recall["value"], recall["fall"]) == (0.25, 0.5)  # 3 and 9 of 12
    assert recall["fall_ci95"][0] > 0
    assert shuffled["share_unchanged"] == 0.5  # 6 of 12 answers differ
    assert (frozen["measures"][0]["fall"], frozen["measures"][0]["p"]) == (0.0, 1.0)
    assert frozen["share_unchanged"] == 1.0


def test_hits_by_length_add_up(compare):
    found = compare("--fit-split", "none")["by_length"]
    assert found["measure"] == "R@1,IoU=0.5"
    rows = found["rows"]
    for row in rows:
        assert row["successes"] + row["failures"] == row["queries"]
    families = {row["family"] for row in rows}
    assert families == {"reference length", "reference length (s)", "video length"}
    for family in families:  # 9 and 3 of 12 are right
        sums = {"ours": 0, "base": 0}
        for row in rows:
            sums[row["method"]] += row["successes"] * (row["family"] == family)
        assert sums == {"ours": 9, "base": 3}
    by_class = {(row["class"], row["method"]): row["value"] for row in rows if row["family"] == "reference length"}
    assert by_class == {  # 10 s and 20 s of 40 s
        ("20-30 %", "ours"): 1.0,
        ("30-50 %", "ours"): 0.5,
        ("20-30 %", "base"): 0.5,
        ("30-50 %", "base"): 0.0,
    }


@pytest.mark.slow
def test_floors_are_fitted_on_the_training_split_of_each_split(compare):
    document = compare("--floor", "best-constant", "--on", "other", "ours=ours-1.jsonl")
    for split in document["splits"]:
        floors = [of for of in split["methods"] if of["kind"] == "floor"]
        assert [of["method"] for of in floors] == ["sentence-network", "best-constant"]
        # One sentence, moments (10, 20) and (10, 30) equally often: a constant is right on half, or (10, 30) on both.
        assert floors[1]["measures"][0]["value"] >= 0.5
    methods = {row["method"]: row["kind"] for row in document["by_length"]["rows"]}
    expected = {"ours": "method", "base": "method", "sentence-network": "floor", "best-constant": "floor"}
    assert methods == expected


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--on", "other", "theirs=ours-1.jsonl"), "--on other: got predictions of 'theirs', expected of one of the"),
        (("--on", "test", "ours=ours.jsonl"), "--on test: is the split that is compared, expected another one"),
        (("--on", "other/", "ours=ours.jsonl"), "--on: got 'other/', expected SPLIT or DATASET/SPLIT"),
        (("--on", "nowhere", "ours=ours-1.jsonl"), "nowhere"),
        (("--changed", "frozen", "x.jsonl"), "--changed frozen: got predictions of 'x'"),
        (("--changed", "turned", "ours=ours.jsonl"), "turned"),
        (("--floor", "oracle"), "--floor: got 'oracle', expected one of predict-all"),
        (("--figures", "mine.jsonl/figures"), "--figures mine.jsonl/figures: cannot be made, "),
    ],
)
def test_mistakes_are_one_line(compare_fails, words, told):
    assert told in compare_fails(*words)
