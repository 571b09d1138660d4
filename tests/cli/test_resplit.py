"""truemoment resplit: annotations in, a folder of splits with its datasheet out, which every verb takes as a dataset."""

import hashlib
import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from truemoment.cli import run
from truemoment.datasets import load_annotations, own
from truemoment.datasets.resplit_folder import SPLITS
from truemoment.records import Annotations
from truemoment.worlds import make_world

JSON_MD = Path(__file__).resolve().parents[2] / "docs" / "json.md"
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
def undrawn(monkeypatch):
    """Leave the figures out, which take a second."""
    monkeypatch.setattr("truemoment.reports.drawing.save_drawings", lambda *_: None)


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


def test_the_same_seed_gives_the_same_bytes_but_for_the_names_in_the_page(call, made, tmp_path):
    # Another folder, as far from the file, with another name.
    shutil.copy(made / "mine.jsonl", tmp_path)
    status, out, err = call("resplit", "--annotations", tmp_path / "mine.jsonl", "-o", tmp_path / "other", *QUICK)
    assert (status, err) == (0, "")
    one, other = bytes_of(made / "anew"), bytes_of(tmp_path / "other")
    page, other_page = (of.pop("datasheet.md").decode().splitlines() for of in (one, other))
    assert one == other
    # The words of this process are those of the tests, so the line "Made again by" differs too.
    differ = [ours for ours, theirs in zip(page, other_page, strict=True) if ours != theirs]
    assert len(differ) == 2
    assert differ[0] == "# anew: ../mine.jsonl, split anew"
    assert out.startswith("split ")


def test_another_seed_deals_other_videos_and_marks_the_same(made, resplit, tmp_path, undrawn):
    assert resplit("-o", tmp_path / "other", "--seed", "1")[0] == 0
    one, other = bytes_of(made / "anew"), bytes_of(tmp_path / "other")
    assert one["val.jsonl"] != other["val.jsonl"]
    assert one["test-iid.jsonl"] != other["test-iid.jsonl"]
    assert one["test-ood.jsonl"] == other["test-ood.jsonl"]  # nothing of it is drawn


def test_only_json_goes_to_standard_output(call, made, tmp_path, undrawn):
    words = ["resplit", "--annotations", made / "mine.jsonl", "-o", tmp_path / "anew", "--permutations", "99"]
    status, out, err = call(*words, "--json", "-")
    assert status == 0
    assert out == (tmp_path / "anew" / "datasheet.json").read_text(encoding="utf-8")
    assert json.loads(out)["schema"] == "truemoment/resplit/1"
    assert err == f"\nwritten to {tmp_path / 'anew'}: use it as --dataset {tmp_path / 'anew'}\n"


def test_notes_and_no_notes(call, made, tmp_path, undrawn):
    words = ["resplit", "--annotations", made / "mine.jsonl", "--permutations", "99"]
    status, loud, err = call(*words, "-o", tmp_path / "loud")
    assert (status, err) == (0, "")  # no terminal, no progress
    _, quiet, err = call(*words, "-o", tmp_path / "quiet", "--quiet")
    assert err == ""
    assert loud == f"{quiet}\nwritten to {tmp_path / 'loud'}: use it as --dataset {tmp_path / 'loud'}\n"
    assert re.search(r"^kept      No video stands in two splits\.$", quiet, re.MULTILINE)


@pytest.mark.parametrize(("style", "sign"), [("md", "|:---"), ("latex", r"\toprule")])
def test_tables_for_papers(resplit, tmp_path, undrawn, style, sign):
    status, out, _ = resplit("-o", tmp_path / "anew", "--table", style)
    assert status == 0
    assert out.count(sign) == 2  # splits, and what guessing gains


def test_every_field_of_the_json_is_explained(made):
    document = json.loads((made / "anew.json").read_text())
    names = set(document) | {f"source.{key}" for key in ("dataset", "annotations", "splits")}
    assert set(document["source"]) == {"annotations", "splits"}  # one of the two, and the splits
    names |= {f"plan.{key}" for key in document["plan"]}
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
        "densities": document["densities"],
    }
    for name, fields in within.items():
        assert set(fields) <= said[name], name


def test_the_command_in_the_page_makes_it_again(made, tmp_path, undrawn):
    page = (made / "anew" / "datasheet.md").read_text(encoding="utf-8")
    [line] = re.findall(r"Made again by:\n\n    (.*)\n", page)
    words = shlex.split(line)
    assert words[:3] == ["truemoment", "resplit", "--annotations"]
    words = [str(tmp_path / "again") if word == str(made / "anew") else word for word in words[1:]]
    assert run(words[: words.index("--json")]) == 0
    assert (tmp_path / "again" / "val.jsonl").read_bytes() == (made / "anew" / "val.jsonl").read_bytes()


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
    assert out.startswith(f"anew/test-ood: {part.n_queries} queries, {part.n_videos} videos\n")
    assert signed in out
    document = tmp_path / "audit.json"
    quick = ["--resamples", "20", "--permutations", "99", "--measures", "R@1,IoU=0.5", "--json", document, "--quiet"]
    status, out, err = call("audit", answers, *of, *quick)
    assert status == 0, err
    assert "No video of test-ood stands in train, val, test-iid" in " ".join(out.split())
    assert signed in document.read_text()
    quick = ["--permutations", "5", "--draws", "5", "--quiet", "--json", "-"]
    status, out, err = call("bias", "--dataset", made / "anew", *quick)
    assert status == 0, err
    [dataset] = json.loads(out)["datasets"]
    assert dataset["title"] == "anew: mine.jsonl, split anew"
    assert [of["split"] for of in dataset["splits"]] == list(SPLITS)


def test_datasets_describe_and_check_it(call, root, monkeypatch):
    sheet = json.loads((root / "anew.json").read_text())
    status, out, err = call("datasets", "info", root / "anew")
    assert (status, err) == (0, "")
    assert out.startswith(f"anew: mine.jsonl, split anew ({root / 'anew'})\n")
    for split in SPLITS:
        assert re.search(rf"^{split} +{sheet['splits'][split]['n_queries']} ", out, re.MULTILINE)
    monkeypatch.chdir(root)
    for name in ("anew", ".", root / "anew"):
        monkeypatch.chdir(root / "anew" if name == "." else root)
        status, out, _ = call("datasets", "check", name)
        assert status == 0
        assert out.endswith("as published and recorded: nothing unexpected\n")
        assert out.startswith(f"{name}/train: {sheet['splits']['train']['n_queries']} queries")
    sheet["splits"]["val"]["n_queries"] += 1
    (root / "anew" / "datasheet.json").write_text(json.dumps(sheet))
    status, out, _ = call("datasets", "check", root / "anew")
    assert status == 1
    assert re.search("^unexpected: .*val.*queries", out, re.MULTILINE)


# --------------------------------------------------------------------------------------------- where to


def test_an_empty_folder_is_used_and_so_is_one_behind_a_link(resplit, tmp_path, undrawn):
    (tmp_path / "empty").mkdir()
    (tmp_path / "target").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "target")
    for name in ("empty", "link"):
        assert resplit("-o", tmp_path / name)[0] == 0
        assert load_annotations(str(tmp_path / name), "val").n_queries > 0
    assert (tmp_path / "link").is_symlink()
    assert {path.name for path in tmp_path.iterdir()} == {"empty", "link", "target"}


def test_a_relative_folder(call, made, tmp_path, monkeypatch, undrawn):
    shutil.copy(made / "mine.jsonl", tmp_path)
    monkeypatch.chdir(tmp_path)
    status, out, _ = call("resplit", "--annotations", "mine.jsonl", "-o", "anew", "--permutations", "99")
    assert status == 0
    assert out.endswith("\nwritten to anew: use it as --dataset anew\n")
    assert load_annotations("anew", "val").sha256 == load_annotations(str(made / "anew"), "val").sha256


@pytest.mark.parametrize("where", ["save_drawings", "write_members", "inspect_split"])
def test_an_interruption_leaves_nothing(made, call, tmp_path, monkeypatch, where):
    home = {
        "save_drawings": "truemoment.reports.drawing.save_drawings",
        "write_members": "truemoment.cli.resplit.write_members",
        "inspect_split": "truemoment.bias.guarantees.inspect_split",
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


@pytest.mark.parametrize(
    ("appears", "why"), [("folder", "Directory not empty"), ("file", "Not a directory")], ids=["folder", "file"]
)
def test_of_two_writers_the_second_is_refused(made, fails, tmp_path, monkeypatch, appears, why):
    out = tmp_path / "anew"

    def first(*_):
        if appears == "folder":
            shutil.copytree(made / "anew", out)
        else:
            out.write_text("theirs")

    monkeypatch.setattr("truemoment.reports.drawing.save_drawings", first)
    line = fails(2, "resplit", "--annotations", made / "mine.jsonl", *QUICK, "-o", out)
    assert line == f"{out}: cannot be made ({why})"
    assert list(tmp_path.iterdir()) == [out]
    assert bytes_of(out) == bytes_of(made / "anew") if appears == "folder" else out.read_text() == "theirs"
