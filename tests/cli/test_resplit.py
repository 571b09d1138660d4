"""truemoment resplit: annotations in, a folder of splits with its datasheet out, a dataset for every verb."""

import gzip
import hashlib
import json
import os
import re
import shlex
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from truemoment.base.records import Annotations
from truemoment.baselines import BASELINES, OrderTable, SentenceNetwork
from truemoment.baselines.floors import FLOORS
from truemoment.cli import run
from truemoment.data.datasets import NO_DATA_FOLDER, load_annotations, own
from truemoment.data.datasets.resplit_folder import SPLITS
from truemoment.data.language.paragraphs import order_of_starts
from truemoment.evaluation.evaluate import evaluate
from truemoment.worlds import make_world

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quick_networks")]

JSON_MD = Path(__file__).resolve().parents[2] / "docs" / "json-datasets.md"
QUICK = ["--permutations", "99", "--quiet"]
FILES = {*(f"{split}.jsonl" for split in SPLITS), "datasheet.md", "datasheet.json", "densities.png", "densities.svg"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Give a folder that holds mine.jsonl, and anew, made of it; anew.json and the words printed are beside them."""
    root = tmp_path_factory.mktemp("made")
    world = make_world(90, location_prior=0.8, seed=3)
    own.write(root / "mine.jsonl", [Annotations.joined([world.splits[of] for of in ("train", "val", "test-iid")])])
    words = ["truemoment", "resplit", "--annotations", root / "mine.jsonl", "-o", root / "anew", *QUICK]
    words = [str(word) for word in [*words, "--json", root / "anew.json"]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", words)
        assert run(words[1:]) == 0
    return root


@pytest.fixture
def root(made, tmp_path):
    """Give a copy of all that, to be written over if something went wrong."""
    return Path(shutil.copytree(made, tmp_path / "root"))


@pytest.fixture
def few_floors(monkeypatch):
    """Leave out the floors that take seconds."""
    monkeypatch.setattr("truemoment.baselines.floors.FLOORS", ("predict-all", "bias-based", "uniform"))


@pytest.fixture
def undrawn(monkeypatch, few_floors):  # noqa: ARG001 - a fixture that uses another one
    """Leave the figures out too, which take a second."""
    monkeypatch.setattr("truemoment.studies.bias.report_resplit.save_drawings", lambda *_: None)


@pytest.fixture
def resplit(call, made):
    """Split the file anew, with options."""
    return lambda *options: call("resplit", "--annotations", made / "mine.jsonl", *QUICK, *options)


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# ------------------------------------------------------------------------------------------ what comes out


def test_the_files(made):
    assert {path.name for path in (made / "anew").iterdir()} == FILES
    assert sorted(path.name for path in made.iterdir()) == ["anew", "anew.json", "mine.jsonl"]
    assert (made / "anew.json").read_bytes() == (made / "anew" / "datasheet.json").read_bytes()
    umask = os.umask(0)
    os.umask(umask)
    assert (made / "anew").stat().st_mode & 0o777 == 0o777 & ~umask


@pytest.mark.usefixtures("undrawn")
def test_another_seed_deals_other_videos_and_marks_the_same(made, resplit, tmp_path):
    assert resplit("-o", tmp_path / "other", "--seed", "1")[0] == 0
    one, other = bytes_of(made / "anew"), bytes_of(tmp_path / "other")
    assert one["val.jsonl"] != other["val.jsonl"]
    assert one["test-iid.jsonl"] != other["test-iid.jsonl"]
    assert one["test-ood.jsonl"] == other["test-ood.jsonl"]  # nothing of it is drawn


@pytest.mark.usefixtures("undrawn")
def test_notes_and_no_notes(call, made, tmp_path):
    words = ["resplit", "--annotations", made / "mine.jsonl", "--permutations", "99", "--full"]
    status, loud, err = call(*words, "-o", tmp_path / "loud")
    assert (status, err) == (0, f"written to {tmp_path / 'loud'}: use it as --dataset {tmp_path / 'loud'}\n")
    _, quiet, err = call(*words, "-o", tmp_path / "quiet", "--quiet")
    assert err == ""
    assert loud.startswith(f"{quiet}\nnote: use the folder as --dataset")
    assert re.search(r"^good     Kept: No video is in two splits\.$", quiet, re.MULTILINE)


def test_every_field_of_the_json_is_explained(made):
    document = json.loads((made / "anew.json").read_text())
    names = set(document) | {f"source.{key}" for key in ("dataset", "annotations", "splits")}
    assert set(document["source"]) == {"annotations", "splits"}  # one of the two, and the splits
    names |= {f"plan.{key}" for key in document["plan"]} | {"guessing.left", "guessing.floors"}
    below = JSON_MD.read_text(encoding="utf-8").partition("\n## What `resplit` writes\n")[2]
    table = re.search(r"^\|(?:.*\n)+?(?=\n)", below, re.MULTILINE)[0]
    rows = [line.split("|") for line in table.splitlines()[2:]]
    explained = [name for row in rows for name in re.findall(r"`([^`]+)`", row[1])]
    assert sorted(explained) == sorted(names)
    # Objects within: their fields stand in the second column.
    said = {name: set(re.findall(r"`([^`]+)`", row[2])) for row in rows for name in re.findall(r"`([^`]+)`", row[1])}
    within = {
        "plan.location": document["plan"]["location"],
        "splits": document["splits"]["train"],
        "promises": document["promises"][0],
        "distances": document["distances"][0] | {"why": ""},
        "guessing": document["guessing"][0],
        "guessing.left": document["guessing"][0]["left"][0],
        "guessing.floors": document["guessing"][0]["floors"][0],
        "densities": document["densities"],
    }
    for name, fields in within.items():
        assert set(fields) <= said[name], name


@pytest.mark.usefixtures("undrawn")
def test_the_command_in_the_page_makes_it_again(made, tmp_path):
    page = (made / "anew" / "datasheet.md").read_text(encoding="utf-8")
    [line] = re.findall(r"Command:\n\n    (.*)\n", page)
    words = shlex.split(line)
    assert words[:3] == ["truemoment", "resplit", "--annotations"]
    words = [str(tmp_path / "again") if word == str(made / "anew") else word for word in words[1:]]
    assert run(words[: words.index("--json")]) == 0
    assert (tmp_path / "again" / "val.jsonl").read_bytes() == (made / "anew" / "val.jsonl").read_bytes()


# ------------------------------------------------------------------------------------- the order of queries


@pytest.fixture(scope="module")
def paragraphs(tmp_path_factory):
    """A file that lists the sentences of a video in the order of their moments."""
    rng = np.random.default_rng(0)
    rows = []
    for v in range(120):
        starts = np.sort(rng.uniform(0, 50, 4)) if v % 4 else np.sort(rng.uniform(0, 12, 4))
        rows += [
            (f"v{v}#{k}", f"v{v}", 60.0, f"she waits {k * v % 5}", start, start + 5 + v % 7)
            for k, start in enumerate(starts)
        ]
    path = tmp_path_factory.mktemp("paragraphs") / "mine.jsonl"
    own.write(path, [Annotations.from_rows(rows)])
    return path


@pytest.mark.usefixtures("undrawn")
def test_random_order_hides_that_of_the_file_and_both_report_what_it_predicts(call, paragraphs, tmp_path):
    sheets, parts = {}, {}
    for order in ("file", "random"):
        words = ["resplit", "--annotations", paragraphs, "-o", tmp_path / order, "--order", order, "--full", *QUICK]
        status, out, err = call(*words)
        assert (status, err) == (0, "")
        assert f"order:{order}|" in (tmp_path / order / "datasheet.md").read_text()
        assert {"file": "in the order of the source", "random": "in random order"}[order] in " ".join(out.split())
        sheets[order] = json.loads((tmp_path / order / "datasheet.json").read_text())
        assert sheets[order]["order"] == order
        parts[order] = {of: load_annotations(str(tmp_path / order), of) for of in SPLITS}
    for name in SPLITS:
        listed, hidden = (parts[order][name] for order in ("file", "random"))
        assert set(hidden.video_id) == set(listed.video_id)
        assert set(hidden.query_id).isdisjoint(listed.query_id)
        assert np.array_equal(np.sort(hidden.start_s), np.sort(listed.start_s))
        assert not order_of_starts(hidden).informs
    # The figures are those of the order table on the folder in file order, whichever folder reports them.
    table = OrderTable().fit(parts["file"]["train"])
    for sheet in sheets.values():
        assert [of["split"] for of in sheet["order_alone"]] == ["train", "test-iid", "test-ood"]
        assert [of["later"]["value"] for of in sheet["order_alone"]] == [1.0, 1.0, 1.0]  # so the file is made
        for of in sheet["order_alone"][1:]:
            test = parts["file"][of["split"]]
            value = evaluate(test, table.ground(test.queries), "R@1,IoU=0.5").value("R@1,IoU=0.5")
            assert of["order_table"]["value"] == pytest.approx(value)


@pytest.mark.usefixtures("undrawn", "few_floors")
def test_nothing_is_reported_of_the_order_where_videos_have_one_sentence(call, tmp_path):
    rows = [(f"v{v}#0", f"v{v}", 60.0, "she waits", v % 50, v % 50 + 5 + v % 7) for v in range(60)]
    own.write(tmp_path / "mine.jsonl", [Annotations.from_rows(rows)])
    status, out, _ = call(
        "resplit", "--annotations", tmp_path / "mine.jsonl", "-o", tmp_path / "anew", *QUICK, "--full"
    )
    assert status == 0
    assert "order table" not in out
    assert json.loads((tmp_path / "anew" / "datasheet.json").read_text())["order_alone"] == []


# ----------------------------------------------------------------------------- other verbs take the folder


def test_other_verbs_take_the_folder(call, made, tmp_path):
    of = ["--dataset", made / "anew", "--split", "test-ood"]
    part, answers = load_annotations(str(made / "anew"), "test-ood"), tmp_path / "answers.jsonl"
    signed = f"data:anew/test-ood#{part.sha256[:8]}"
    status, out, err = call("baseline", "best-constant", *of, "-o", answers)
    assert (status, err) == (0, "")
    assert "fitted on anew/train" in out
    status, out, err = call("evaluate", answers, *of, "--resamples", "20")
    assert (status, err) == (0, "")
    assert re.search(rf"^data +anew/test-ood: {part.n_queries} queries, {part.n_videos} videos$", out, re.MULTILINE)
    assert signed in out
    document = tmp_path / "audit.json"
    quick = [
        "--resamples",
        "200",
        "--permutations",
        "99",
        "--measures",
        "R@1,IoU=0.5",
        "--json",
        document,
        "--quiet",
        "--full",
    ]
    status, out, err = call("audit", answers, *of, *quick)
    assert status == 0, err
    assert "No video of test-ood is in train, val or test-iid" in " ".join(out.split())
    assert signed in document.read_text()
    quick = ["--permutations", "5", "--draws", "5", "--quiet", "--json", "-"]
    status, out, err = call("bias", "--dataset", made / "anew", *quick)
    assert status == 0, err
    [dataset] = json.loads(out)["datasets"]
    assert dataset["title"] == "anew: mine.jsonl, split again"
    assert [of["split"] for of in dataset["splits"]] == list(SPLITS)


def test_datasets_describe_and_check_it(call, root, monkeypatch):
    sheet = json.loads((root / "anew.json").read_text())
    status, out, err = call("datasets", "info", root / "anew")
    assert (status, err) == (0, "")
    assert " ".join(out.split()).startswith(f"dataset anew: mine.jsonl, split again ({root / 'anew'})")
    for split in SPLITS:
        assert re.search(rf"^{split} +{sheet['splits'][split]['n_queries']} ", out, re.MULTILINE)
    monkeypatch.chdir(root)
    for name in ("anew", ".", root / "anew"):
        monkeypatch.chdir(root / "anew" if name == "." else root)
        status, out, _ = call("datasets", "check", name)
        assert status == 0
        assert out.startswith("As published and recorded: nothing unexpected.\n")
        assert re.search(
            rf"^dataset +{re.escape(str(name))}\ntrain +{sheet['splits']['train']['n_queries']} queries",
            out,
            re.MULTILINE,
        )
    sheet["splits"]["val"]["n_queries"] += 1
    (root / "anew" / "datasheet.json").write_text(json.dumps(sheet))
    status, out, _ = call("datasets", "check", root / "anew")
    assert status == 1
    assert re.search(r"^serious +unexpected: .*val.*queries", out, re.MULTILINE)


# --------------------------------------------------------------------------------------------- where to


@pytest.mark.usefixtures("undrawn")
def test_an_empty_folder_is_used_and_so_is_one_behind_a_link(resplit, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "deep" / "target").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "deep" / "target")
    for name in ("empty", "link"):
        assert resplit("-o", tmp_path / name)[0] == 0
        assert load_annotations(str(tmp_path / name), "val").n_queries > 0
    assert (tmp_path / "link").is_symlink()
    assert {path.name for path in tmp_path.iterdir()} == {"empty", "link", "deep"}


@pytest.mark.usefixtures("undrawn")
def test_a_relative_folder(call, made, tmp_path, monkeypatch):
    shutil.copy(made / "mine.jsonl", tmp_path)
    monkeypatch.chdir(tmp_path)
    status, _, err = call("resplit", "--annotations", "mine.jsonl", "-o", "anew", "--permutations", "99")
    assert (status, err) == (0, "written to anew: use it as --dataset anew\n")
    assert load_annotations("anew", "val").sha256 == load_annotations(str(made / "anew"), "val").sha256


@pytest.mark.usefixtures("few_floors")
@pytest.mark.parametrize("where", ["save_drawings", "write_members", "inspect_split"])
def test_an_interruption_leaves_nothing(made, call, tmp_path, monkeypatch, where):
    home = {
        "save_drawings": "truemoment.studies.bias.report_resplit.save_drawings",
        "write_members": "truemoment.studies.bias.report_resplit.write_members",
        "inspect_split": "truemoment.studies.bias.resplitting.inspect_split",
    }
    seen = []

    def interrupted(*_, **__):
        seen.extend(path.name for path in tmp_path.iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr(home[where], interrupted)
    status, out, err = call("resplit", "--annotations", made / "mine.jsonl", *QUICK, "-o", tmp_path / "anew")
    assert (status, out, err) == (130, "", "truemoment: interrupted; nothing half-written remains\n")
    assert list(tmp_path.iterdir()) == []
    assert [name.startswith(".writing-") for name in seen] == ([] if where == "inspect_split" else [True])


@pytest.mark.usefixtures("few_floors")
@pytest.mark.parametrize("appears", ["folder", "file"])
def test_of_two_writers_the_second_is_refused(made, fails, tmp_path, monkeypatch, appears):
    out = tmp_path / "anew"
    why = {"folder": "Directory not empty", "file": "Not a directory"}[appears]

    def first(*_):
        if appears == "folder":
            shutil.copytree(made / "anew", out)
        else:
            out.write_text("theirs")

    monkeypatch.setattr("truemoment.studies.bias.report_resplit.save_drawings", first)
    line = fails(2, "resplit", "--annotations", made / "mine.jsonl", *QUICK, "-o", out)
    assert line == f"{out}: cannot be made ({why})"
    assert list(tmp_path.iterdir()) == [out]
    assert bytes_of(out) == bytes_of(made / "anew") if appears == "folder" else out.read_text() == "theirs"


@pytest.mark.usefixtures("undrawn")
def test_a_file_that_is_packed_or_named_strangely(call, made, tmp_path):
    (tmp_path / "new\nline.jsonl.gz").write_bytes(gzip.compress((made / "mine.jsonl").read_bytes()))
    (tmp_path / "datasheet.json").symlink_to(made / "mine.jsonl")
    expected = load_annotations(str(made / "anew"), "val").sha256
    for number, name in enumerate(("new\nline.jsonl.gz", "datasheet.json")):
        folder = tmp_path / f"anew{number}"
        assert call("resplit", "--annotations", tmp_path / name, "-o", folder, *QUICK)[0] == 0
        assert load_annotations(str(folder), "val").sha256 == expected


def test_a_file_whose_name_is_no_text_is_refused(fails, made, tmp_path):
    # A datasheet is JSON, and JSON holds text: the folder could not be read again.
    path = tmp_path / os.fsdecode(b"m\xff.jsonl")
    shutil.copy(made / "mine.jsonl", path)
    line = fails(2, "resplit", "--annotations", path, "-o", tmp_path / "anew", *QUICK)
    assert line == f"{tmp_path}/m\\xff.jsonl: its name is not text, expected one that a datasheet can contain"
    assert not (tmp_path / "anew").exists()


# ------------------------------------------------------------------------------------------------ refused


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    """Stand in a folder with mine.jsonl, a full folder, an empty one and a split anew."""
    shutil.copy(made / "mine.jsonl", tmp_path)
    shutil.copytree(made / "anew", tmp_path / "anew")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.chdir(tmp_path)
    return tmp_path


MINE = ("--annotations", "mine.jsonl")
OUT = ("-o", "new")
OF_LOCATION = "is an option of --shift location, which is not given"


def everything(folder):
    """Every file below a folder with its bytes, and every folder."""
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (OUT, "which dataset? give --dataset NAME or --annotations FILE"),
        ((*MINE, "--dataset", "tacos", *OUT), "got --dataset and --annotations, expected one of them"),
        (
            (*MINE, "--split", "val", *OUT),
            "got --split with --annotations; expected no --split, because all of a file is split",
        ),
        (("--annotations", "nowhere.jsonl", *OUT), "nowhere.jsonl: no such file"),
        (
            ("--annotations", "pipe", *OUT),
            "pipe: is not a regular file; expected one, because the folder refers to it",
        ),
        (
            ("--annotations", "full", *OUT),
            "full: is not a regular file; expected one, because the folder refers to it",
        ),
        (("--dataset", "anew", *OUT), "anew is split again already, expected the original dataset"),
        (("--dataset", "./anew", *OUT), "anew is split again already, expected the original dataset"),
        (
            ("--dataset", "full", *OUT),
            "full: contains no datasheet.json; expected a dataset's name, or a folder that 'truemoment resplit' made",
        ),
        (
            ("--dataset", "activitynet-captions", "--split", "test", "--split", "val_1", "--data-dir", ".", *OUT),
            "activitynet-captions: test contains other splits that are named, expected each query once",
        ),
        (
            ("--dataset", "activitynet-captions", "--split", "val_2", "--split", "test", "--data-dir", ".", *OUT),
            "activitynet-captions: test contains other splits that are named, expected each query once",
        ),
        (
            ("--dataset", "tacos", *OUT),
            NO_DATA_FOLDER,
        ),
        ((*MINE, "-o", "full"), "-o {here}/full: is there already, expected a new or empty folder"),
        ((*MINE, "-o", "anew"), "-o {here}/anew: is there already, expected a new or empty folder"),
        ((*MINE, "-o", "mine.jsonl"), "-o {here}/mine.jsonl: is there already, expected a new or empty folder"),
        ((*MINE, "-o", "pipe"), "-o {here}/pipe: is there already, expected a new or empty folder"),
        ((*MINE, "-o", "loop"), "{here}/loop: cannot be made (Not a directory)"),
        ((*MINE, "-o", "no/new"), "-o {here}/no/new: cannot be made, {here}/no is no folder"),
        ((*MINE, "-o", "mine.jsonl/new"), "-o {here}/mine.jsonl/new: cannot be made, {here}/mine.jsonl is no folder"),
        ((*MINE, "-o", "tacos"), "-o {here}/tacos: is the name of a dataset, expected another one"),
        (
            (*MINE, "-o", "empty", "--json", "empty/out.json"),
            "--json empty/out.json: is in the new folder, expected another place",
        ),
        (
            (*MINE, "-o", "empty", "--json", "./empty/../empty/out.json"),
            "--json empty/../empty/out.json: is in the new folder, expected another place",
        ),
        ((*MINE, *OUT, "--json", "new"), "--json new: is in the new folder, expected another place"),
        ((*MINE, *OUT, "--json", "new/out.json"), "new/out.json: cannot be written, new is no folder"),
        (
            (*MINE, *OUT, "--json", "mine.jsonl"),
            "mine.jsonl: is read or written already, expected another file to write to",
        ),
        (
            (*MINE, *OUT, "--order", "start"),
            "Invalid value for '--order': 'start' is not one of 'file', 'random'. (see truemoment resplit --help)",
        ),
        ((*MINE, *OUT, "--shift", "words", "--marked", "0.2"), f"--marked: {OF_LOCATION}"),
        ((*MINE, *OUT, "--shift", "words", "--longest", "0.4"), f"--longest: {OF_LOCATION}"),
        ((*MINE, *OUT, "--shift", "compositions", "--width", "0.1"), f"--width: {OF_LOCATION}"),
        ((*MINE, *OUT, "--shift", "words", "--place", "seconds"), f"--place: {OF_LOCATION}"),
        (
            (*MINE, *OUT, "--shift", "words", "--shift", "compositions"),
            "expected one shift, or one of location and one of words or compositions",
        ),
        (
            (*MINE, *OUT, "--ood", "0.6", "--val", "0.2", "--iid", "0.2"),
            "got 0.6 for test-ood, 0.2 for val and 0.2 for test-iid, expected 0.9 together at most: the rest is for "
            "training",
        ),
        (
            (*MINE, *OUT, "--longest", "long"),
            "--longest: got 'long', expected a share of more than 0 and less than 1, or none",
        ),
        (
            (*MINE, *OUT, "--longest", "1"),
            "--longest: got '1', expected a share of more than 0 and less than 1, or none",
        ),
        (
            (*MINE, *OUT, "--longest", "nan"),
            "--longest: got 'nan', expected a share of more than 0 and less than 1, or none",
        ),
    ],
)
@pytest.mark.usefixtures("undrawn")
def test_mistakes_are_told_in_a_line(fails, here, words, line):
    before = everything(here)
    assert fails(2, "resplit", *words) == line.format(here=here)
    assert everything(here) == before


@pytest.mark.parametrize(
    ("words", "begin"),
    [
        (MINE, "Missing option '-o' / '--out'"),
        ((*MINE, *OUT, "--ood", "0"), "Invalid value for '--ood': 0.0 is not in the range 0<x<1."),
        ((*MINE, *OUT, "--val", "1"), "Invalid value for '--val': 1.0 is not in the range 0<x<1."),
        ((*MINE, *OUT, "--iid", "nan"), "Invalid value for '--iid': nan is not a finite number"),
        ((*MINE, *OUT, "--marked", "20"), "Invalid value for '--marked': 20.0 is not in the range 0<x<1."),
        ((*MINE, *OUT, "--permutations", "98"), "Invalid value for '--permutations': "),
        ((*MINE, *OUT, "--seed", "-1"), "Invalid value for '--seed': "),
        (("--annotations", "loop", *OUT), "loop: "),
        (("--annotations", "mine.jsonl", "-o", "loop", "--json", "loop"), "--json loop: is in the new folder"),
        ((*MINE, *OUT, "--width", "0"), "got a width of 0, expected "),
        ((*MINE, *OUT, "--width", "nan"), "got a width of nan, expected "),
        ((*MINE, *OUT, "--width", "inf"), "got a width of inf, expected "),
        ((*MINE, *OUT, "--engine", "ear"), "unknown language engine 'ear'"),
        (("--dataset", "nowhere", *OUT), "unknown dataset 'nowhere', expected one that "),
        (("--dataset", "tacos", "--split", "dev", "--data-dir", ".", *OUT), "tacos has no split 'dev', expected one "),
        (("--dataset", "tacos", "--data-dir", "empty", *OUT), "tacos: empty/tacos (no such folder) is missing"),
        ((*MINE, *OUT, "--shift", "words", "--ood", "0.8"), "mine.jsonl: "),
    ],
)
def test_other_mistakes(fails, here, words, begin):
    before = everything(here)
    assert fails(2, "resplit", *words).startswith(begin)
    assert everything(here) == before


# ----------------------------------------------------------------------------- inputs are never written over


@pytest.mark.parametrize(
    "taken", ["mine.jsonl", "anew/train.jsonl", "anew/test-ood.jsonl", "anew/datasheet.json", "anew/datasheet.md"]
)
@pytest.mark.parametrize("dataset", ["anew", "{here}/anew", "."])
def test_what_a_folder_is_made_of_is_never_written_over(fails, here, monkeypatch, taken, dataset):
    target = os.path.relpath(here / taken, here / "anew") if dataset == "." else str(here / taken)
    (here / "answers.jsonl").write_text('{"query_id": "v", "moments": [[0, 1]]}\n')
    if dataset == ".":
        monkeypatch.chdir(here / "anew")
    before = everything(here)
    of = ("--dataset", dataset.format(here=here), "--split", "test-ood")
    line = f"{target}: is read or written already, expected another file to write to"
    assert fails(2, "baseline", "best-constant", *of, "-o", target) == line
    assert fails(2, "evaluate", here / "answers.jsonl", *of, "--json", target) == line
    assert fails(2, "audit", here / "answers.jsonl", *of, "--html", target) == line
    assert fails(2, "bias", *of[:2], "--json", target) == line
    assert everything(here) == before


def test_a_source_in_the_folder_is_not_written_over_either(fails, here):
    shutil.move("mine.jsonl", "anew/mine.jsonl")
    before = everything(here)
    line = fails(2, "baseline", "uniform", "--dataset", "anew", "--split", "val", "-o", "anew/mine.jsonl")
    assert line == "anew/mine.jsonl: is read or written already, expected another file to write to"
    assert everything(here) == before


@pytest.mark.parametrize("file", ["tacos/train.json", "charades-cd/charades_train.json"])
def test_a_file_of_a_dataset_is_not_written_over(fails, here, file):
    path = here / "data" / file
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    words = ["resplit", "--dataset", "tacos", "--data-dir", "data", "-o", "new", "--json", f"data/{file}"]
    assert fails(2, *words) == f"data/{file}: is read or written already, expected another file to write to"
    assert path.read_text() == "{}"


# ----------------------------------------------------------------------------------- from a dataset's files


@pytest.fixture
def charades_cd(tmp_path):
    """Write Charades-CD of 60 invented videos of 20 s; its test-ood is not at hand."""
    folder = tmp_path / "data" / "charades-cd"
    folder.mkdir(parents=True)
    for split, numbers in (("train", range(40)), ("val", range(40, 50)), ("test_iid", range(50, 60))):
        entries = {
            f"V{n}": {
                "video_duration": 20.0,
                "timestamps": [[n % 11, n % 11 + 5 + n % 3], [n % 7, n % 7 + 4]],
                "sentences": ["a person opens a door.", "a person sits."],
            }
            for n in numbers
        }
        (folder / f"charades_{split}.json").write_text(json.dumps(entries))
    return tmp_path / "data"


@pytest.mark.usefixtures("undrawn")
def test_a_dataset_of_the_field_is_read_through_its_folder(call, fails, charades_cd, tmp_path):
    words = ["resplit", "--dataset", "charades-cd", "--data-dir", charades_cd, *QUICK]
    status, _, err = call(*words, "-o", tmp_path / "anew")
    assert (status, err) == (0, "charades-cd: test-ood is missing and is left out\n")
    sheet = json.loads((tmp_path / "anew" / "datasheet.json").read_text())
    assert sheet["source"]["dataset"] == "charades-cd"
    assert set(sheet["source"]) == {"dataset", "splits"}
    assert list(sheet["source"]["splits"]) == ["train", "val", "test-iid"]
    parts = [load_annotations(str(tmp_path / "anew"), split, data_dir=charades_cd) for split in SPLITS]
    assert sum(part.n_queries for part in parts) == sheet["n_queries"] == 120
    assert [part.sha256 for part in parts] == [sheet["splits"][split]["sha256"] for split in SPLITS]
    of = ("--dataset", tmp_path / "anew", "--split", "val")
    line = fails(2, "baseline", "uniform", *of, "-o", tmp_path / "answers.jsonl")
    assert line == NO_DATA_FOLDER
    target = charades_cd / "charades-cd" / "charades_val.json"
    line = fails(2, "baseline", "uniform", *of, "--data-dir", charades_cd, "-o", target)
    assert line == f"{target}: is read or written already, expected another file to write to"
    # A split that was read has changed.
    entries = json.loads(target.read_text())
    entries["V40"]["timestamps"][0][0] += 0.5
    target.write_text(json.dumps(entries))
    line = fails(2, "baseline", "uniform", *of, "--data-dir", charades_cd, "-o", tmp_path / "answers.jsonl")
    assert line.startswith(f"{tmp_path}/anew/datasheet.json: charades-cd/val: got annotations with hash ")
    assert line.endswith(": they have changed since they were split; split them again")


@pytest.mark.usefixtures("undrawn")
def test_a_split_that_was_asked_for_must_be_at_hand(call, fails, charades_cd, tmp_path):
    words = ["resplit", "--dataset", "charades-cd", "--data-dir", charades_cd, *QUICK, "-o", tmp_path / "anew"]
    assert "charades_test_ood.json" in fails(2, *words, "--split", "test-ood", "--split", "train")
    assert not (tmp_path / "anew").exists()
    status, _, err = call(*words, "--split", "train", "--split", "train")
    assert (status, err) == (0, "")
    sheet = json.loads((tmp_path / "anew" / "datasheet.json").read_text())
    assert list(sheet["source"]["splits"]) == ["train"]
    assert sheet["n_queries"] == 80


# --------------------------------------------------------------------------------------- names out to break it

NASTY = "a|b `code` *star* [x](y) <script>alert(1)</script>\nnext\r\n| row | \u202eright \x1b[31m \\ $x$ 日本"


@pytest.fixture
def hostile(tmp_path):
    """Write a file, of a name that needs quotes, whose every id and sentence is out to break a page."""
    path = tmp_path / "my `file` *of* it's | <b>.jsonl"
    nouns = "door cup book phone bag shoe chair table box lamp towel pillow mirror broom sandwich"
    nouns = f"{nouns} laptop camera blanket window bottle knife plate spoon radio".split()  # each in 5 of 120 videos
    rows = []
    for n in range(120):
        for q in range(2):
            start = (n + q) % 9 / 2
            sentence = f"a man opens the {nouns[n % 24]} {NASTY}"
            rows.append((f"{NASTY}{n}/{q}", f"{NASTY}{n}", 30.0, sentence, start, start + 5 + n % 7 / 2))
    own.write(path, [Annotations.from_rows(rows)])
    return path


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("options", [("--order", "random"), ("--shift", "location", "--shift", "words")])
def test_hostile_text(call, hostile, tmp_path, monkeypatch, options):
    folder = tmp_path / "my *new* `folder` | <i>"
    words = ["resplit", "--annotations", str(hostile), "-o", str(folder), *QUICK, *options]
    monkeypatch.setattr(sys, "argv", ["truemoment", *words])
    status, out, err = call(*words)
    assert status == 0, err
    parts = [load_annotations(str(folder), split) for split in SPLITS]
    sheet = json.loads((folder / "datasheet.json").read_text(encoding="utf-8"))
    assert [part.sha256 for part in parts] == [sheet["splits"][split]["sha256"] for split in SPLITS]
    page = (folder / "datasheet.md").read_text(encoding="utf-8")
    for text in (page, out):
        assert not set(text) & set("\r\x1b\u202e")
        assert "<script>" not in text
    assert page.startswith(
        r"# my \*new\* \`folder\` \| \<i\>: a new split of ../my \`file\` \*of\* it's \| \<b\>.jsonl"
    )
    # Every table has as many cells a line as its heading.
    tables = re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE)
    assert len(tables) == 7  # splits, three measures of the floors, the order alone, distances, hashes
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1
    # What is to be copied is copied as it is.
    [line] = re.findall(r"^    (truemoment .*)$", page, re.MULTILINE)
    assert shlex.split(line) == ["truemoment", *words]


def test_a_page_has_the_hashes_of_what_it_is_made_of(made):
    page = (made / "anew" / "datasheet.md").read_text(encoding="utf-8")
    sheet = json.loads((made / "anew" / "datasheet.json").read_text(encoding="utf-8"))
    for sha256 in (*sheet["source"]["splits"].values(), *(of["sha256"] for of in sheet["splits"].values())):
        assert f" {sha256} |" in page
        assert len(sha256) == len(hashlib.sha256().hexdigest())


# ---------------------------------------------------------------------------------- what is left to guess


def floors_of(document, original):
    return {
        (of["split"], floor["floor"]): floor["value"]
        for of in document["guessing"]
        for floor in of["floors"]
        if of["original"] == original and floor["measure"] == "R@1,IoU=0.5"
    }


def test_all_floors_are_measured_and_what_is_left_is_said(made, call, tmp_path, monkeypatch):
    monkeypatch.setattr("truemoment.studies.bias.report_resplit.save_drawings", lambda *_: None)
    document = json.loads((made / "anew.json").read_text())
    assert set(floors_of(document, original=False)) == {
        (split, floor)
        for split in ("test-iid", "test-ood")
        for floor in FLOORS
        if BASELINES[floor].reads != "paragraph"  # the sentences of this world are in no order
    }
    assert floors_of(document, original=True) == {}  # the file names no split
    status, out, _ = call("resplit", "--annotations", made / "mine.jsonl", *QUICK, "-o", tmp_path / "anew")
    assert status == 0
    (ood,) = [of["left"][0] for of in document["guessing"] if of["split"] == "test-ood"]
    says = {"left": "Guessing still helps on test-ood: ", "not shown": "No floor is shown to be above Uniform"}
    assert re.search(rf"^{says[ood['shown']]}", out, re.MULTILINE)
    assert re.search(r"^R@1, IoU=0.5, % +test-iid +test-ood +test-ood minus Uniform$", out, re.MULTILINE)
    assert re.search(r"^Sentence network +\d", out, re.MULTILINE)


@pytest.mark.usefixtures("undrawn")
def test_the_original_test_of_a_file_stands_beside(call, tmp_path):
    world = make_world(90, location_prior=0.8, seed=3)
    splits = {name: world.splits[name] for name in ("train", "val", "test-iid")}
    own.write(tmp_path / "mine.jsonl", splits.values())
    status, out, _ = call("resplit", "--annotations", tmp_path / "mine.jsonl", *QUICK, "-o", tmp_path / "anew")
    assert status == 0
    document = json.loads((tmp_path / "anew" / "datasheet.json").read_text())
    assert {split for split, _ in floors_of(document, original=True)} == {"test-iid"}
    (original,) = [of for of in document["guessing"] if of["original"]]
    assert original["n_queries"] == splits["test-iid"].n_queries
    assert original["fitted_on_sha256"] == own.read(tmp_path / "mine.jsonl", "train").sha256
    assert re.search(
        r"^R@1, IoU=0.5, % +test-iid +test-ood +original test-iid +test-ood minus Uniform$", out, re.MULTILINE
    )
    # Lines that name no split belong to all: what was learned would be asked.
    lines = (tmp_path / "mine.jsonl").read_text().replace(', "split": "val"', "").replace(',"split":"val"', "")
    (tmp_path / "mine.jsonl").write_text(lines)
    status, out, _ = call(
        "resplit", "--annotations", tmp_path / "mine.jsonl", *QUICK, "-o", tmp_path / "other", "--full"
    )
    assert status == 0
    assert "original" not in out


@pytest.mark.usefixtures("undrawn")
def test_floors_are_kept_for_the_next_command_unless_asked_otherwise(resplit, tmp_path, monkeypatch):
    monkeypatch.setenv("TRUEMOMENT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("truemoment.baselines.floors.FLOORS", ("uniform", "sentence-network"))
    fitted = []
    fit = SentenceNetwork.fit

    def fit_briefly(self, train):
        fitted.append(1)
        return fit(replace(self, training=replace(self.training, epochs=(1, 1))), train)

    monkeypatch.setattr(SentenceNetwork, "fit", fit_briefly)
    n_fitted = []
    for name, options in (("none", ["--no-cache"]), ("first", []), ("second", [])):
        assert resplit("-o", tmp_path / name, *options)[0] == 0
        assert (tmp_path / name / "datasheet.json").read_bytes() == (tmp_path / "none" / "datasheet.json").read_bytes()
        n_fitted.append(len(fitted))
        if name == "none":
            assert not (tmp_path / "cache").exists()
    assert n_fitted == [2, 4, 4]  # two trainings of the network, and none where they are kept


@pytest.mark.thorough
@pytest.mark.data
@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("seed", [0, 1])
def test_guessing_falls_to_a_third_by_the_defaults(call, data_dir, tmp_path, seed):
    # Closer Look, Table 2: Bias-based on Charades-CD falls from 16.87 to 5.04, to 0.299 of it.
    folder = tmp_path / "anew"
    status, _, _ = call("resplit", "--dataset", "charades-sta", "--data-dir", data_dir, "-o", folder, "--seed", seed)
    assert status == 0
    figure = {
        of["split"]: floor["value"]
        for of in json.loads((folder / "datasheet.json").read_text())["guessing"]
        for floor in of["floors"]
        if (of["original"], floor["floor"], floor["measure"]) == (False, "bias-based", "dR@1,IoU=0.5")
    }
    assert figure["test-ood"] <= figure["test-iid"] / 3
