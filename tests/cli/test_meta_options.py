"""What the studies share on the command line: which systems are read, and where results go.

Shown on 'meta ties' and 'meta stability', which need no more than systems.
"""

import json
import shutil

import pytest

from truemoment.evaluation.uncertainty import stream

pytestmark = pytest.mark.slow


DATA = ("--annotations", "mine.jsonl", "--split", "test")
MEASURES = ("--measures", "R@1,IoU=0.5; mIoU; AxIoU@5")
QUICK = ("--resamples", "20")


@pytest.fixture
def saved(three_runs, call):
    """The same systems as saved scores of three measures, in a folder of their own."""
    (three_runs / "saved").mkdir()
    for name in "abc":
        words = ("evaluate", f"runs/{name}.jsonl", *DATA, *MEASURES, "--save-scores", f"saved/{name}.npz")
        assert call(*words)[0] == 0
    return three_runs / "saved"


@pytest.fixture
def study(call):
    """Run 'meta ties' with --json -, and return its document; it must end well, and say nothing else."""

    def run_words(*words):
        status, out, err = call("meta", "ties", *words, *QUICK, "--json", "-", "--quiet")
        assert (status, err) == (0, "")
        return json.loads(out)

    return run_words


def names_of(document):
    return [source["name"] for source in document["sources"]]


# --------------------------------------------------------------------------------------- which systems


@pytest.mark.usefixtures("saved")
def test_files_folders_and_saved_scores_give_the_same_figures(study):
    """However the three systems are given, they are the same three, in the order given."""
    answers = study("runs/a.jsonl", "runs/b.jsonl", "runs/c.jsonl", *DATA, *MEASURES)
    assert names_of(answers) == ["a", "b", "c"]
    folder = study("runs", *DATA, *MEASURES)
    scores = study("saved/a.npz", "saved/b.npz", "saved/c.npz")
    of_scores = study("saved")
    mixed = study("runs/a.jsonl", "saved/b.npz", "runs/c.jsonl", *DATA, *MEASURES)
    for other in (folder, scores, of_scores, mixed):
        assert names_of(other) == ["a", "b", "c"]
        assert other["studies"] == answers["studies"]
    assert study("runs/c.jsonl", "saved/a.npz", *DATA, *MEASURES)["sources"][0]["name"] == "c"


def test_sources_name_files_and_their_hashes(three_runs, study):
    import hashlib

    document = study("ours=runs/a.jsonl", "runs/b.jsonl", *DATA)
    for source, (name, path) in zip(
        document["sources"], (("ours", "runs/a.jsonl"), ("b", "runs/b.jsonl")), strict=True
    ):
        digest = hashlib.sha256((three_runs / path).read_bytes()).hexdigest()
        assert source == {"name": name, "path": path, "sha256": digest}


@pytest.mark.usefixtures("three_runs")
def test_the_default_measures_are_those_of_the_paper(study):
    entries = study("runs", *DATA)["studies"]["ties"]["measures"]
    assert len(entries) == 14
    assert entries[0]["measure"] == "R@1,IoU=0.3"


@pytest.mark.usefixtures("saved")
def test_saved_scores_bring_their_measures(study):
    """Answers beside them are measured by the same; --measures keeps some of them, in its order."""
    told = [m["measure"] for m in study("runs/a.jsonl", "saved/b.npz", *DATA)["studies"]["ties"]["measures"]]
    assert told == ["R@1,IoU=0.5", "mIoU", "AxIoU@5"]
    some = study("saved", "--measures", "AxIoU@5; mIoU")
    assert [m["measure"] for m in some["studies"]["ties"]["measures"]] == ["AxIoU@5", "mIoU"]


@pytest.mark.usefixtures("three_runs")
def test_population_and_baselines_are_added(call):
    """Simulated systems and blind baselines stand behind the files; the same seed gives the same, another others."""
    words = ("meta", "ties", "runs/a.jsonl", *DATA, *MEASURES, *QUICK, "--json", "-", "--quiet")
    status, out, err = call(*words, "--population")
    assert (status, err) == (0, "")
    assert call(*words, "--population")[1] == out
    assert call(*words, "--population", "--seed", "1")[1] != out
    assert len(json.loads(out)["sources"]) == 1
    assert call(*words)[0] == 2  # one system
    assert call(*words, "--baselines")[0] == 0
    assert call("meta", "ties", *DATA, *MEASURES, *QUICK, "--baselines", "--fit-split", "none")[0] == 0


@pytest.mark.usefixtures("three_runs")
def test_a_file_named_as_a_baseline_is_refused(fails):
    line = fails(2, "meta", "ties", "predict-all=runs/a.jsonl", *DATA, "--baselines")
    assert "'predict-all' is the name of a simulated system or baseline" in line


@pytest.mark.usefixtures("three_runs")
def test_the_protocol_is_the_one_asked_for(study):
    assert "closer-look" in json.dumps(study("runs", *DATA, *MEASURES, "--protocol", "closer-look"))


# ------------------------------------------------------------------------------------------- bad input


@pytest.mark.usefixtures("saved")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("runs/a.jsonl", "gone.jsonl", *DATA), "gone.jsonl"),
        (("saved/a.npz", "gone.npz"), "gone.npz"),
        (("runs/a.jsonl", *DATA), "expected two or more"),
        (("saved/a.npz",), "expected two or more"),
        ((), "got no system, expected two or more"),
        (DATA, "got no system, expected two or more"),
        (("runs",), "which annotations? give --dataset"),
        (("runs", "--dataset", "charades-sta"), "which split?"),
        (("runs", "--annotations", "mine.jsonl", "--split", "gone"), "gone"),
        (("runs", "--annotations", "gone.jsonl"), "gone.jsonl"),
        (("runs", *DATA, "--measures", "nonsense"), "nonsense"),
        (("runs", *DATA, "--protocol", "nonsense"), "nonsense"),
        (("runs", *DATA, "--table", "word"), "word"),
        (("runs/a.jsonl", "a=runs/b.jsonl", *DATA), "would both be called 'a'; give NAME=SYSTEM"),
        (("runs/a.jsonl", "runs", *DATA), "would both be called 'a'"),
        (("runs", "saved", *DATA), "would both be called 'a'"),
        (("all=runs", *DATA), "leave out NAME="),
        (("=runs/a.jsonl", "runs/b.jsonl", *DATA), "expected NAME=FILE"),
        (("saved", "--measures", "mIoU; R@7,IoU=0.5"), "R@7,IoU=0.5: not among the measures computed"),
        (("runs/a.jsonl", "saved/b.npz", *DATA, "--protocol", "closer-look"), "closer-look"),
        (("runs/a.jsonl", "saved/b.npz", "--annotations", "mine.jsonl", "--split", "train"), "runs/a.jsonl"),
    ],
)
def test_bad_input_is_one_line(fails, words, said):
    assert said in fails(2, "meta", "ties", *words)


def test_an_empty_folder_is_refused(three_runs, fails):
    (three_runs / "empty").mkdir()
    (three_runs / "empty" / ".hidden").touch()
    assert fails(2, "meta", "ties", "empty", *DATA).startswith("empty: contains no file")


def test_damaged_scores_are_refused_by_name(three_runs, saved, fails):
    whole = (saved / "b.npz").read_bytes()
    (saved / "b.npz").write_bytes(whole[: len(whole) // 2])
    assert "saved/b.npz: is not a file of saved scores" in fails(2, "meta", "ties", "saved")
    shutil.copy(three_runs / "runs" / "a.jsonl", saved / "b.npz")
    assert "saved/b.npz: is not a file of saved scores" in fails(2, "meta", "ties", "saved")


@pytest.mark.usefixtures("saved")
def test_scores_of_other_measures_are_refused_by_name(call, fails):
    """Also where answers stand beside them, which are then measured as the first of the saved ones."""
    words = ("evaluate", "runs/b.jsonl", *DATA, "--measures", "mIoU; R@1,IoU=0.5", "--save-scores", "saved/b.npz")
    assert call(*words)[0] == 0
    line = fails(2, "meta", "ties", "saved")
    assert line.startswith("saved/b.npz: has measures mIoU; R@1,IoU=0.5, expected R@1,IoU=0.5; mIoU")
    line = fails(2, "meta", "ties", "c=runs/c.jsonl", "saved/a.npz", "saved/b.npz", *DATA)
    assert line.startswith("saved/b.npz: has measures mIoU; R@1,IoU=0.5, expected R@1,IoU=0.5; mIoU; AxIoU@5")


@pytest.mark.usefixtures("saved")
def test_scores_of_other_queries_are_refused_by_name(three_runs, call, fails):
    rows = (three_runs / "mine.jsonl").read_text().splitlines(keepends=True)
    (three_runs / "fewer").mkdir()
    (three_runs / "fewer" / "mine.jsonl").write_text("".join(rows[:22]))
    words = (
        "evaluate",
        "runs/b.jsonl",
        "--annotations",
        "fewer/mine.jsonl",
        "--split",
        "test",
        "--on-unknown",
        "ignore",
    )
    assert call(*words, *MEASURES, "--save-scores", "saved/b.npz")[0] == 0
    assert fails(2, "meta", "ties", "saved").startswith("saved/b.npz: has annotations #")


@pytest.mark.usefixtures("saved")
def test_a_protocol_that_saved_scores_do_not_have_is_refused(fails):
    """Saved scores cannot be measured anew: to pass over what was asked for would be a wrong answer."""
    assert "closer-look" in fails(2, "meta", "ties", "saved", "--protocol", "closer-look")


@pytest.mark.usefixtures("saved")
def test_a_measure_that_a_file_lacks_is_told_with_the_file(fails):
    assert "saved/a.npz" in fails(2, "meta", "ties", "saved", "--measures", "SetIoU")


# ---------------------------------------------------------------------------------- where results go


@pytest.mark.usefixtures("saved")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--json", "runs/a.jsonl"), "runs/a.jsonl: is read or written already"),
        (("--json", "./runs/../runs/c.jsonl"), "is read or written already"),
        (("--html", "mine.jsonl"), "mine.jsonl: is read or written already"),
        (("--json", "both", "--html", "both"), "both: is read or written already"),
        (("--json", "gone/ties.json"), "gone is no folder"),
        (("--html", "-"), "--html: expected the name of a file"),
        (("--open",), "--html: expected the name of a file"),
        (("--figures", "mine.jsonl"), "--figures mine.jsonl: is a file, expected a folder"),
        (("--figures", "runs"), "runs: lies in runs, where every file is read as a system"),
        (("--html", "runs/../runs/page.html"), "lies in runs"),
        (("--html", "."), ".: is a folder, expected a file"),
    ],
)
def test_outputs_that_cannot_be_are_refused_before_any_work(fails, words, said, tmp_path):
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert said in fails(2, "meta", "ties", "runs", *DATA, *words)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.usefixtures("three_runs")
def test_queries_without_an_answer_are_told(study, tmp_path):
    """A file that answers one of 24 queries: whoever reads a ranking must know."""
    first = (tmp_path / "runs" / "a.jsonl").read_text().splitlines()[0]
    (tmp_path / "one.jsonl").write_text(first + "\n")
    notes = study("runs/a.jsonl", "one.jsonl", *DATA, *MEASURES)["studies"]["ties"]["notes"]
    assert "one: no answer (worst value): 23 of 24 queries." in notes


@pytest.mark.usefixtures("three_runs")
def test_what_is_simulated_is_told_and_named(study):
    document = study("runs/a.jsonl", "--population", *DATA, *MEASURES)
    assert len(document["simulated"]) == 24
    assert document["baselines"] == []
    assert any("25 systems, of which 24 are simulated" in note for note in document["studies"]["ties"]["notes"])


@pytest.mark.usefixtures("three_runs")
def test_a_folder_holds_nothing_that_cannot_be_read(fails, tmp_path):
    (tmp_path / "runs" / "d.jsonl").symlink_to(tmp_path / "gone.jsonl")
    assert "runs/d.jsonl: cannot be read as a file" in fails(2, "meta", "ties", "runs", *DATA)


def test_a_study_draws_the_same_whatever_else_is_made():
    assert stream(0, "ties").random() == stream(0, "ties").random()
    assert len({stream(seed, study).random() for seed in (0, 1) for study in ("ties", "power")}) == 4


# ------------------------------------------------------------------------------------------------ help


def test_every_study_is_listed_with_what_it_answers(call):
    status, out, _ = call("meta", "--help")
    assert status == 0
    for study in ("report", "axioms", "agreement", "stability", "ambiguity", "ties", "theory", "selection", "power"):
        assert f"\n  {study} " in out


def test_a_study_that_is_none_is_refused(fails):
    assert "nonsense" in fails(2, "meta", "nonsense")
