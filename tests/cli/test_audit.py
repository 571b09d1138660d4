"""truemoment audit and demo: files in, page, JSON and exit status out."""

import json
import shutil
from pathlib import Path

import pytest

from truemoment.baselines import SentenceNetwork
from truemoment.baselines.sentence_neighbours import SentenceNeighbours
from truemoment.studies.audit.checks import excess_where_blind_misses


@pytest.fixture(scope="session")
def demo(demo_run, tmp_path_factory):
    """A copy of the demo's output."""
    return Path(shutil.copytree(demo_run / "truemoment-demo", tmp_path_factory.mktemp("demo") / "out"))


@pytest.fixture(scope="module")
def few_videos(demo, tmp_path_factory):
    """Every tenth video of it, for what is refused."""
    folder = tmp_path_factory.mktemp("small")
    rows = [json.loads(line) for line in (demo / "annotations.jsonl").read_text(encoding="utf-8").splitlines()]
    kept = set(sorted({row["video_id"] for row in rows})[::10])
    for name in ("annotations", "seeing-test-ood"):
        header, *lines = (demo / f"{name}.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        lines = [header, *lines] if "query_id" in header else lines  # not the line that signs the whole annotations
        chosen = [line for line in lines if json.loads(line)["query_id"].partition("#")[0] in kept]
        (folder / f"{name}.jsonl").write_text("".join(chosen), encoding="utf-8")
    return folder


@pytest.fixture(scope="module", autouse=True)
def after_the_demo(demo_run, quick_networks):
    """Train small networks, but not for the demo, which others look at."""
    del demo_run, quick_networks


def arguments(demo, name="seeing", *more):
    return [
        "audit",
        str(demo / f"{name}-test-ood.jsonl"),
        "--annotations",
        str(demo / "annotations.jsonl"),
        "--split",
        "test-ood",
        "--measures",
        "R@1,IoU=0.5; mIoU",
        "--resamples",
        "200",
        "--permutations",
        "99",
        *more,
    ]


def test_demo_writes_what_it_says(demo):
    written = {path.name for path in demo.iterdir()}
    assert {"annotations.jsonl", "seeing.html", "guessing.html"} <= written
    for name in ("seeing", "guessing"):
        assert {f"{name}-test-ood.jsonl", f"{name}-test-iid.jsonl", f"{name}-test-ood-shuffled.jsonl"} <= written
        page = (demo / f"{name}.html").read_text(encoding="utf-8")
        assert page.startswith("<!DOCTYPE html>")
        assert len(page) < 3_000_000


def test_demo_tells_the_two_methods_apart(demo_run):
    out = (demo_run / "printed.txt").read_text(encoding="utf-8")
    told = [line for line in out.splitlines() if line.startswith(("seeing: ", "guessing: "))]
    assert told[0].startswith("seeing: Better than the 12 blind baselines tried: ")
    assert told[1].startswith("guessing: ")
    assert "Better than" not in told[1]
    assert "  truemoment-demo/seeing.html\n" in out


@pytest.mark.usefixtures("undrawn")
@pytest.mark.thorough
def test_the_command_a_demo_gives_is_true(call, demo):
    """The last line of the demo is a command that audits the same answers and writes a page."""
    from truemoment.cli import demo_audit as module

    words = module._command(demo, "seeing", 0).split()
    again = demo.parent / "again.html"
    words[words.index("--html") + 1] = str(again)
    status, _, err = call(*words[1:])
    assert (status, err) == (0, "")
    assert again.stat().st_size > 50_000


def test_splits_of_the_own_file_are_found(call, demo):
    """Floors are fitted on its lines of split train and measured on those of val too, without an option."""
    _, out, _ = call(*arguments(demo, "seeing", "--json", "-", "--quiet"))
    document = json.loads(out)
    assert {"action-aware", "best-constant", "sentence-network"} <= {floor["name"] for floor in document["floors"]}
    assert (document["fit"]["split"], document["validation"]["split"]) == ("train", "val")


def test_without_splits_there_is_nothing_to_fit_on(call, demo, tmp_path, monkeypatch):
    monkeypatch.setattr(excess_where_blind_misses, "N_FOLDS", 2)  # fewer networks out of fold, which is quicker
    own = tmp_path / "test.jsonl"
    lines = (demo / "annotations.jsonl").read_text(encoding="utf-8").splitlines()
    kept = [json.loads(line) for line in lines if json.loads(line)["split"] == "test-ood"]
    for line in kept:
        del line["split"]
    own.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
    words = arguments(demo, "seeing", "--json", "-", "--quiet")
    words[words.index("--annotations") + 1] = str(own)
    status, out, _ = call(*words)
    assert status == 0
    document = json.loads(out)
    assert {floor["name"] for floor in document["floors"]} == {
        *("predict-all", "uniform", "random-chance", "own-answers", "own-answers-similar"),
    }
    assert document["findings"][0]["holds"] is None  # no floor that knows where moments lie was tried
    assert document["where_blind_misses"]["out_of_fold"] is True


def test_a_line_without_a_split_does_not_switch_the_floors_off(call, demo, tmp_path):
    """It belongs to all splits, so train holds a query under test."""
    lines = [json.loads(line) for line in (demo / "annotations.jsonl").read_text(encoding="utf-8").splitlines()]
    del next(line for line in lines if line["split"] == "test-ood")["split"]
    own, bare = tmp_path / "own.jsonl", tmp_path / "answers.jsonl"
    own.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    _, *answers = (demo / "seeing-test-ood.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    bare.write_text("".join(answers), encoding="utf-8")
    words = arguments(demo)
    words[words.index("--annotations") + 1], words[1] = str(own), str(bare)
    status, _, err = call(*words)
    assert status == 2
    assert "contains queries of own.jsonl/test-ood (lines without a split belong to all)" in err


def test_a_fit_split_without_durations_is_refused(call, demo, tmp_path):
    lines = [json.loads(line) for line in (demo / "annotations.jsonl").read_text(encoding="utf-8").splitlines()]
    train = [line | {"duration_s": None} for line in lines if line["split"] == "train"]
    path = tmp_path / "train.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in train), encoding="utf-8")
    status, _, err = call(*arguments(demo, "guessing", "--fit-annotations", str(path)))
    assert status == 2
    assert "train.jsonl/all: no video's duration is known" in err


@pytest.mark.parametrize(
    ("gate", "status"),
    [
        ("better-than-guessing; R@1,IoU=0.5>0.1", 0),
        ("better-than-guessing; mIoU<0.01", 1),
        ("skill>0.1 (point); excess-where-blind-misses>0.1 (point); shortcut-share<0.9 (point)", 0),
    ],
)
def test_gate(call, demo, gate, status):
    """How conditions are judged: tests/audit/test_findings.py."""
    came, _, err = call(*arguments(demo, "seeing", "--gate", gate, "--quiet"))
    assert came == status
    told = [line for line in err.splitlines() if line.startswith("gate ")]
    assert len(told) == gate.count(";") + 1
    assert any("FAILS" in line for line in told) == bool(status)


def test_gate_of_a_method_that_guesses_fails(call, demo):
    assert call(*arguments(demo, "guessing", "--gate", "better-than-guessing", "--quiet"))[0] == 1


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--gate", "nonsense"], "unknown 'nonsense'"),
        (["--gate", "shortcut-share<many"], "got 'many', expected a number"),
        (["--engine", "none"], "none"),
        (["--fit-split", "train", "--fit-annotations", "x"], "expected one of them"),
        (["--fit-split", "test-ood"], "baselines must not learn from queries under test"),
        (["--select-split", "test-ood"], "baselines must not learn from queries under test"),
        (["--gate", "resolution"], "it cannot pass or fail"),
        (["--gate", "mIoU<40"], "fractions from 0 to 1, not percent"),
        (["--open"], "expected the name of a file"),
        (["--html", "-"], "expected the name of a file"),
        (["--figures", __file__], "test_audit.py: is a file, expected a folder"),
        (["--fit-split", "elsewhere"], "has no queries of split 'elsewhere'"),
        (["--measures", "HIT@1,min=Good"], "needs measures of moments"),
        (["--iid", "nowhere.jsonl"], "nowhere.jsonl: no such file"),
        (["--shuffled", "nowhere.jsonl"], "nowhere.jsonl: no such file"),
        (["--html", "no/such/folder/x.html"], "cannot be written, no/such/folder is no folder"),
        (["--html", "x.html", "--json", "x.html"], "is read or written already"),
        (["--protocol", "nobody"], "unknown protocol 'nobody'"),
    ],
)
def test_mistakes_are_told_in_one_line(call, few_videos, more, message):
    words = arguments(few_videos, "seeing", "--quiet")
    status, out, err = call(*words, *more)
    assert status == 2
    assert message in err
    assert err.count("\n") == 1
    assert out == ""


def test_unknown_durations_are_refused(call, demo, tmp_path):
    own = tmp_path / "test.jsonl"
    lines = [json.loads(line) for line in (demo / "annotations.jsonl").read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line["duration_s"] = None
    own.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    bare = tmp_path / "answers.jsonl"  # without the line that says which annotations it was made for
    _, *answers = (demo / "seeing-test-ood.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    bare.write_text("".join(answers), encoding="utf-8")
    words = arguments(demo)
    words[words.index("--annotations") + 1], words[1] = str(own), str(bare)
    status, _, err = call(*words)
    assert status == 2
    assert "an audit needs every video's duration" in err


def test_nothing_is_left_half_written(call, demo, tmp_path):
    page = tmp_path / "audit.html"
    page.write_text("as it was", encoding="utf-8")
    broken = tmp_path / "broken.jsonl"
    shutil.copy(demo / "seeing-test-ood.jsonl", broken)
    with broken.open("a", encoding="utf-8") as stream:
        stream.write('{"query_id": ')
    words = arguments(demo, "seeing", "--html", str(page))
    words[1] = str(broken)
    status, _, err = call(*words)
    assert status == 2
    assert str(broken) in err
    assert page.read_text(encoding="utf-8") == "as it was"


@pytest.mark.data
@pytest.mark.usefixtures("few_floors")
def test_the_audit_of_a_public_file(call, data_dir):
    """Figures of the issue: 58.84 and 27.00, 598 answers past the end, 5 of zero length."""
    file = data_dir / "predictions" / "hao2022_charades_cd_test_ood.json"
    status, out, err = call(
        *("audit", file, "--dataset", "charades-cd", "--split", "test-ood", "--data-dir", data_dir),
        *("--resamples", "200", "--permutations", "99"),
    )
    assert (status, err) == (0, "")
    text = " ".join(out.split())
    assert "The whole video as the answer scores 58.84 at R@1,IoU=0.3 and 27.00 at dR@1,IoU=0.3" in text
    assert "598 answers end after the end of their video" in text
    assert "5 answers have zero length" in text


# ---- What is kept


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Give the words of an audit of few queries, whose networks are trained in a second, with a cache of its own.

    Moments are at 0-20 % of the video or at 50-70 %; the method finds two of three.
    """
    monkeypatch.setenv("TRUEMOMENT_CACHE", str(tmp_path / "cache"))
    rows, answers = [], []
    for n in range(100):
        start, split = 25.0 * (n % 5 < 2), "train" if n < 60 else "test"
        rows.append({"query_id": f"q{n}", "video_id": f"v{n // 2}", "duration_s": 50, "sentence": "he opens a door"})
        rows[-1] |= {"moments": [[start, start + 10]], "split": split}
        if split == "test":
            answers.append({"query_id": f"q{n}", "moments": [[start, start + 10] if n % 3 else [40, 50]]})
    for name, lines in (("annotations", rows), ("answers", answers)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    few = ["--measures", "R@1,IoU=0.5; mIoU", "--resamples", "200", "--permutations", "99", "--quiet"]
    data = ["--annotations", tmp_path / "annotations.jsonl", "--split", "test"]
    return ["audit", tmp_path / "answers.jsonl", *data, *few]


@pytest.mark.slow
def test_a_second_audit_fits_nothing_again_and_says_the_same(call, small, tmp_path, monkeypatch):
    """Byte by byte, as does one that keeps nothing."""
    first, again, without = (tmp_path / f"{name}.json" for name in ("first", "again", "without"))
    status, out, err = call(*small, "--json", first)
    assert (status, err) == (0, "")
    names = {path.name.rpartition("-")[0] for path in (tmp_path / "cache").iterdir()}
    kinds = ("answers", "marks", "protocols", "sentence-network", "similar", "spread", "training", "verbs")
    assert names == {f"truemoment-{kind}" for kind in kinds}

    def fit(*_):
        raise AssertionError("fitted again")

    with monkeypatch.context() as patch:
        for of in (SentenceNetwork, SentenceNeighbours):
            patch.setattr(of, "fit", fit)
        assert call(*small, "--json", again) == (0, out, "")
    assert again.read_bytes() == first.read_bytes()

    monkeypatch.setenv("TRUEMOMENT_CACHE", str(tmp_path / "unused"))
    assert call(*small, "--json", without, "--no-cache") == (0, out, "")
    assert without.read_bytes() == first.read_bytes()
    assert not (tmp_path / "unused").exists()


@pytest.mark.slow
def test_an_unwritable_cache_is_only_warned_about(call, small, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("TRUEMOMENT_CACHE", str(tmp_path / "file"))
    status, out, err = call(*small, "--full")
    assert (status, err.count("\n")) == (0, 1)
    assert err.startswith("warning: results are not kept for the next time (")
    assert "baselines that never see the video" in out


@pytest.mark.slow
def test_what_is_kept_is_not_what_was_asked_of_other_data(call, small, tmp_path):
    """A training moment more is another training split: its floors are fitted anew."""
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    assert call(*small, "--json", one)[0] == 0
    before = {
        path.name for path in (tmp_path / "cache").iterdir() if path.name.startswith("truemoment-sentence-network")
    }
    annotations = tmp_path / "annotations.jsonl"
    row = {"query_id": "new", "video_id": "new", "duration_s": 50, "sentence": "a person opens a door"}
    with annotations.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(row | {"moments": [[20, 30]], "split": "train"}) + "\n")
    assert call(*small, "--json", other)[0] == 0
    after = {
        path.name for path in (tmp_path / "cache").iterdir() if path.name.startswith("truemoment-sentence-network")
    }
    assert (len(before), len(after), before < after) == (2, 4, True)
    assert json.loads(other.read_text())["fit"]["n_queries"] == json.loads(one.read_text())["fit"]["n_queries"] + 1
