"""truemoment meta selection: two folders of equally named files, of answers or of saved scores."""

import json
import shutil

import pytest


@pytest.fixture
def sides(tmp_path, monkeypatch):
    """Own annotations of two splits of 40 queries, a video each, and three runs on either.

    Of the 40 validation queries run a answers 30 rightly at once and 30 by two answers, b 20 and 40, c 10 and 10; of
    the test queries 24, 16 and 8 at once, and 24, 36 and 8 by two.
    """
    monkeypatch.chdir(tmp_path)
    rows = [
        {"video_id": f"{split}{i}", "sentence": "a door opens", "duration_s": 40, "moments": [[10, 20]], "split": split}
        for split in ("val", "test")
        for i in range(40)
    ]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    right, wrong = [10, 20], [30, 40]
    counts = {"val": {"a": (30, 30), "b": (20, 40), "c": (10, 10)}, "test": {"a": (24, 24), "b": (16, 36), "c": (8, 8)}}
    for split, runs in counts.items():
        (tmp_path / split).mkdir()
        for run, (once, twice) in runs.items():
            lists = [[right, wrong] if i < once else [wrong, right] if i < twice else [wrong, wrong] for i in range(40)]
            (tmp_path / split / f"{run}.jsonl").write_text(
                "".join(
                    json.dumps({"query_id": f"{split}{i}#0", "moments": [[*m, 1 - k] for k, m in enumerate(moments)]})
                    + "\n"
                    for i, moments in enumerate(lists)
                )
            )
    return tmp_path


FOLDERS = ("meta", "selection", "--validation", "val", "--test", "test")
DATA = ("--validation-annotations", "val.jsonl", "--annotations", "test.jsonl")
MEASURES = ("--measures", "R@1,IoU=0.5; R@2,IoU=0.5")


@pytest.fixture
def own(sides):
    """The two splits as files of their own."""
    lines = (sides / "mine.jsonl").read_text().splitlines(keepends=True)
    for split in ("val", "test"):
        (sides / f"{split}.jsonl").write_text("".join(line for line in lines if f'"split": "{split}"' in line))
    return sides


@pytest.mark.usefixtures("undrawn")
def test_choices_and_what_they_lose(call, own):
    status, out, err = call(
        *FOLDERS, *DATA, *MEASURES, "--json", "found.json", "--html", "found.html", "--figures", "figures", "--full"
    )
    assert (status, err) == (0, "")
    study = json.loads((own / "found.json").read_text())["studies"]["selection"]
    assert study["variants"] == ["a", "b", "c"]
    assert [entry["chosen"] for entry in study["validation"]] == ["a", "b"]  # 30 at once, 40 by two
    # Run a loses nothing by R@1 and (36 - 24) / 40 by R@2; run b (24 - 16) / 40 and nothing.
    assert [[one["regret"] for one in entry["test"]] for entry in study["validation"]] == [
        pytest.approx([0, 0.3]),
        pytest.approx([0.2, 0]),
    ]
    assert "R@2,IoU=0.5" in out.splitlines()[3]
    assert {path.name for path in (own / "figures").iterdir()} == {
        f"selection-{name}.{ending}" for name in ("regret", "z-scores") for ending in ("png", "svg", "pdf")
    }
    assert "Which validation measure selects variants that test well?" in (own / "found.html").read_text()


@pytest.mark.usefixtures("own")
def test_sources_say_which_side_they_are_of(call):
    _, out, _ = call(*FOLDERS, *DATA, *MEASURES, "--json", "-")
    sources = json.loads(out)["sources"]
    assert [(source["name"], source["path"]) for source in sources] == [
        (run, f"{side}/{run}.jsonl") for side in ("val", "test") for run in "abc"
    ]
    assert all(len(source["sha256"]) == 64 for source in sources)


def test_saved_scores_need_no_annotations_and_give_the_same(call, own):
    for split in ("val", "test"):
        (own / f"{split}-scores").mkdir()
        for run in "abc":
            words = (f"{split}/{run}.jsonl", "--annotations", f"{split}.jsonl", "--save-scores")
            assert call("evaluate", *words, f"{split}-scores/{run}.npz", *MEASURES)[0] == 0
    saved = call("meta", "selection", "--validation", "val-scores", "--test", "test-scores", "--json", "-", "--quiet")
    answers = call(*FOLDERS, *DATA, *MEASURES, "--json", "-")
    assert (saved[0], saved[2]) == (0, "")
    assert json.loads(saved[1])["studies"] == json.loads(answers[1])["studies"]


@pytest.mark.usefixtures("sides")
def test_a_dataset_with_two_splits(call):
    """One file of own annotations holds both splits."""
    status, out, _ = call(
        *(*FOLDERS, *MEASURES, "--validation-annotations", "mine.jsonl", "--validation-split", "val"),
        *("--annotations", "mine.jsonl", "--split", "test", "--json", "-"),
    )
    assert status == 0
    study = json.loads(out)["studies"]["selection"]
    assert (study["validation_data"]["split"], study["test_data"]["split"]) == ("val", "test")


@pytest.mark.usefixtures("own")
def test_what_saturates_judges_only_when_asked(call):
    words = ("--measures", "R@1,IoU=0.5; R@10,IoU=0.3", "--json", "-")
    by_itself = json.loads(call(*FOLDERS, *DATA, *words)[1])["studies"]["selection"]
    asked = json.loads(call(*FOLDERS, *DATA, *words, "--test-measures", "R@10,IoU=0.3")[1])["studies"]["selection"]
    assert [one["measure"] for one in by_itself["by_lot"]] == ["R@1,IoU=0.5"]
    assert [one["measure"] for one in asked["by_lot"]] == ["R@10,IoU=0.3"]
    assert [one["measure"] for one in by_itself["validation"]] == ["R@1,IoU=0.5", "R@10,IoU=0.3"]


@pytest.mark.usefixtures("own")
def test_files_can_be_named_one_by_one(call):
    words = ("--validation", "val/a.jsonl", "--validation", "b=val/b.jsonl", "--test", "test/a.jsonl")
    status, out, _ = call("meta", "selection", *words, "--test", "test/b.jsonl", *DATA, *MEASURES, "--json", "-")
    assert status == 0
    assert json.loads(out)["studies"]["selection"]["variants"] == ["a", "b"]


def test_names_on_one_side_only_are_refused_before_anything_is_read(fails, sides):
    shutil.copy(sides / "val" / "a.jsonl", sides / "val" / "d.jsonl")
    expected = "d is on this side only, expected files of the same names on both"
    assert fails(2, *FOLDERS) == f"--validation: {expected}"
    (sides / "val" / "d.jsonl").rename(sides / "test" / "d.jsonl")
    assert fails(2, *FOLDERS) == f"--test: {expected}"


@pytest.mark.usefixtures("own")
def test_answers_without_annotations_are_refused(fails):
    assert fails(2, *FOLDERS) == (
        "which annotations? prediction files need --dataset NAME with --validation-split NAME, or "
        "--validation-annotations FILE"
    )
    assert fails(2, *FOLDERS, "--validation-annotations", "val.jsonl") == (
        "which annotations? prediction files need --dataset NAME with --split NAME, or --annotations FILE"
    )


@pytest.mark.usefixtures("own")
def test_one_variant_is_refused(fails):
    words = ("--validation", "val/a.jsonl", "--test", "test/a.jsonl")
    assert "expected two or more" in fails(2, "meta", "selection", *words, *DATA)


def test_a_measure_that_was_not_saved_is_refused(call, fails, own):
    for split in ("val", "test"):
        (own / f"{split}-scores").mkdir()
        for run in "ab":
            words = (f"{split}/{run}.jsonl", "--annotations", f"{split}.jsonl", "--save-scores")
            call("evaluate", *words, f"{split}-scores/{run}.npz", *MEASURES)
    folders = ("--validation", "val-scores", "--test", "test-scores")
    assert "AxIoU@5: not among the measures" in fails(2, "meta", "selection", *folders, "--measures", "AxIoU@5")


def test_scores_of_other_queries_are_refused_by_name(call, fails, own):
    (own / "mixed").mkdir()
    for split, run in (("val", "a"), ("test", "b")):
        words = (f"{split}/{run}.jsonl", "--annotations", f"{split}.jsonl", "--save-scores", f"mixed/{run}.npz")
        call("evaluate", *words, *MEASURES)
    said = fails(2, "meta", "selection", "--validation", "mixed", "--test", "mixed")
    assert said.startswith("mixed/b.npz: has dataset test.jsonl, expected val.jsonl as a has;")
