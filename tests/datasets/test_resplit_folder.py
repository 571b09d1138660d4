"""A folder made by truemoment resplit, read as a dataset: back come the splits, or one clear line."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from truemoment.base.errors import InputError, MissingFileError, TrueMomentError, UsageError
from truemoment.base.records import Annotations, Saliency
from truemoment.cli import run
from truemoment.data.datasets import get_dataset, load_annotations, own
from truemoment.data.datasets.resplit_folder import SPLITS, files_of_folder, found_file
from truemoment.data.datasets.whole import whole_copy
from truemoment.worlds import make_world

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quick_networks")]


def written(root: Path, name: str = "mine.jsonl", *, by_split: bool = False) -> Annotations:
    """Write a file of annotations, of which each line names a split or none does, and give what it holds."""
    world = make_world(90, location_prior=0.8, seed=3)
    parts = [world.splits[split] for split in ("train", "val", "test-iid")]
    own.write(root / name, parts if by_split else [Annotations.joined(parts)])
    return own.read(root / name)


def split_anew(source: Path, folder: Path, *options: str) -> None:
    words = ["resplit", "--annotations", source, "-o", folder, "--permutations", "99", "--quiet", *options]
    assert run([str(word) for word in words]) == 0


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Give a folder that holds mine.jsonl, and anew, made of it."""
    root = tmp_path_factory.mktemp("made")
    written(root)
    split_anew(root / "mine.jsonl", root / "anew")
    return root


@pytest.fixture
def root(made, tmp_path):
    """Give a copy of both, to be broken."""
    return Path(shutil.copytree(made, tmp_path / "root"))


def sheet_of(folder: Path) -> dict:
    return json.loads((folder / "datasheet.json").read_text(encoding="utf-8"))


def told(kind: type[Exception], folder: Path, split: str = "test-ood") -> str:
    """Read a split that cannot be read: the one line that says why."""
    with pytest.raises(TrueMomentError) as caught:
        load_annotations(str(folder), split)
    assert type(caught.value) is kind
    line = str(caught.value)
    assert "\n" not in line
    return line


# --------------------------------------------------------------------------------------------- back again


def test_every_split_comes_back_and_together_they_are_the_file(made):
    whole, parts = own.read(made / "mine.jsonl"), {}
    sheet = sheet_of(made / "anew")
    for split in SPLITS:
        part = parts[split] = load_annotations(str(made / "anew"), split)
        assert (part.dataset, part.split) == ("anew", split)
        assert (part.n_queries, part.n_videos, part.sha256) == tuple(
            sheet["splits"][split][field] for field in ("n_queries", "n_videos", "sha256")
        )
        listed = [json.loads(line) for line in (made / "anew" / f"{split}.jsonl").read_text().splitlines()]
        assert [entry["query_id"] for entry in listed] == list(part.queries.query_id)
        assert [entry["video_id"] for entry in listed] == list(part.queries.video_id)
        places = [whole.queries.index[query_id] for query_id in part.queries.query_id]
        assert places == sorted(places)  # in the order of the file
        kept = [query_id in set(part.queries.query_id) for query_id in whole.queries.query_id]
        assert whole.select_queries(kept).sha256 == part.sha256
    ids = [query_id for part in parts.values() for query_id in part.queries.query_id]
    assert sorted(ids) == sorted(whole.queries.query_id)
    assert sheet["source"] == {"annotations": "../mine.jsonl", "splits": {"all": whole.sha256}}


def test_relative_absolute_and_here(made, monkeypatch):
    expected = load_annotations(str(made / "anew"), "val").sha256
    monkeypatch.chdir(made)
    for name in ("anew", "./anew", "anew/", str(made / "anew")):
        part = load_annotations(name, "val")
        assert (part.dataset, part.sha256) == ("anew", expected)
    monkeypatch.chdir(made / "anew")
    part = load_annotations(".", "val")
    assert (part.dataset, part.sha256) == ("anew", expected)
    assert get_dataset(".").title == "anew: mine.jsonl, split again"


@pytest.mark.usefixtures("undrawn", "few_floors")
def test_lines_that_name_splits_are_split_all_the_same(tmp_path):
    whole = written(tmp_path, by_split=True)
    split_anew(tmp_path / "mine.jsonl", tmp_path / "anew")
    sizes = [load_annotations(str(tmp_path / "anew"), split).n_queries for split in SPLITS]
    assert sum(sizes) == whole.n_queries


@pytest.mark.parametrize("rated", [True, False])
def test_whether_a_copy_loses_ratings_is_known(rated):
    saliency = Saliency([0, 1], [0], [[4]], 2.0) if rated else None
    part = replace(Annotations.from_rows([("v#0", "v", 10.0, "a door", 0.0, 2.0)]), saliency=saliency)
    whole = whole_copy([part])
    assert (whole.loses_ratings, whole.copied[0].saliency) == (rated, None)


def test_the_file_may_be_moved_into_the_folder_and_the_folder_away(root, tmp_path):
    expected = load_annotations(str(root / "anew"), "train").sha256
    shutil.move(root / "mine.jsonl", root / "anew" / "mine.jsonl")
    (tmp_path / "elsewhere").mkdir()
    shutil.move(root / "anew", tmp_path / "elsewhere" / "again")
    part = load_annotations(str(tmp_path / "elsewhere" / "again"), "train")
    assert (part.dataset, part.sha256) == ("again", expected)


@pytest.mark.usefixtures("undrawn", "few_floors")
def test_a_file_named_as_a_split_is_not_taken_for_it(tmp_path):
    written(tmp_path, "train.jsonl")
    split_anew(tmp_path / "train.jsonl", tmp_path / "anew")
    assert {split: load_annotations(str(tmp_path / "anew"), split).n_queries for split in SPLITS} == {
        split: of["n_queries"] for split, of in sheet_of(tmp_path / "anew")["splits"].items()
    }
    (tmp_path / "train.jsonl").unlink()
    assert told(MissingFileError, tmp_path / "anew") == (
        f"{tmp_path}/anew/datasheet.json: the annotations it was made from are missing at "
        f"{tmp_path}/anew/../train.jsonl; put the file there"
    )


@pytest.mark.usefixtures("undrawn", "few_floors")
def test_new_words_put_aside_come_back_too(tmp_path):
    # 25 nouns, each in 8 of 200 videos: rare enough to be new.
    nouns = "door cup book phone bag shoe chair table box lamp towel pillow mirror broom sandwich"
    nouns += " laptop camera blanket window bottle knife plate spoon radio ball"
    rows = []
    for number in range(200):
        for sentence in (f"a man opens the {nouns.split()[number % 25]}", "somebody sits"):
            start = number % 17 / 2
            rows.append((f"v{number}#{len(rows)}", f"v{number}", 40.0, sentence, start, start + 5))
    whole = Annotations.from_rows(rows)
    own.write(tmp_path / "mine.jsonl", [whole])
    split_anew(tmp_path / "mine.jsonl", tmp_path / "anew", "--shift", "words")
    members = sheet_of(tmp_path / "anew")["splits"]
    assert sum(of["n_queries"] for of in members.values()) == whole.n_queries
    for split in SPLITS:
        assert load_annotations(str(tmp_path / "anew"), split).sha256 == members[split]["sha256"]
    assert members["aside"]["n_queries"] == len((tmp_path / "anew" / "aside.jsonl").read_text().splitlines()) > 0
    with pytest.raises(UsageError, match="has no split 'aside', expected one of train, val, test-iid, test-ood"):
        load_annotations(str(tmp_path / "anew"), "aside")
    assert [of.name for of in get_dataset(str(tmp_path / "anew")).splits] == list(SPLITS)


# ----------------------------------------------------------------------------------- what has changed


def test_a_changed_time_of_the_source(root):
    lines = (root / "mine.jsonl").read_text().splitlines(keepends=True)
    first = json.loads(lines[0])
    first["moments"][0][1] += 0.25
    (root / "mine.jsonl").write_text("".join([json.dumps(first) + "\n", *lines[1:]]))
    was, now = sheet_of(root / "anew")["source"]["splits"]["all"], own.read(root / "mine.jsonl").sha256
    for split in SPLITS:
        assert told(InputError, root / "anew", split) == (
            f"{root}/anew/datasheet.json: {root}/anew/../mine.jsonl: got annotations with hash {now[:12]}, expected "
            f"{was[:12]}: they have changed since they were split; split them again"
        )


def test_a_source_that_is_nowhere(root):
    (root / "mine.jsonl").unlink()
    assert told(MissingFileError, root / "anew") == (
        f"{root}/anew/datasheet.json: the annotations it was made from are missing at {root}/anew/mine.jsonl and at "
        f"{root}/anew/../mine.jsonl; put the file there"
    )


def shorten(lines, _):
    return lines[:-1]


def swap(lines, other):
    return [*lines[:-1], other[0]]


def extend(lines, other):
    return [*lines, other[0]]


def repeat(lines, _):
    return [*lines, lines[0]]


def unknown(lines, _):
    return [*lines, '{"query_id": "nobody#0", "video_id": "nobody"}']


def other_video(lines, other):
    return [json.dumps(json.loads(lines[0]) | {"video_id": json.loads(other[0])["video_id"]}), *lines[1:]]


def broken(lines, _):
    return [lines[0], lines[1][:-4], *lines[2:]]


def untyped(lines, _):
    return ['{"query_id": 7, "video_id": "v"}', *lines[1:]]


def fieldless(lines, _):
    return ['{"query_id": "v#0"}', *lines[1:]]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (shorten, "{path}: contains 47 queries that differ from the datasheet; split again"),
        (swap, "{path}: contains 48 queries that differ from the datasheet; split again"),
        (extend, "{path}: contains 49 queries that differ from the datasheet; split again"),
        (repeat, "{path}:49: got {first!r} again, expected each query once"),
        (
            unknown,
            "{path}:49: field query_id: got query 'nobody#0' of video 'nobody', which mine.jsonl does not contain",
        ),
        (
            other_video,
            "{path}:1: field query_id: got query {first!r} of video {video!r}, which mine.jsonl does not contain",
        ),
        (broken, "{path}:2: "),
        (untyped, "{path}:1: field query_id: got a whole number, expected text"),
        (fieldless, "{path}:1: field video_id: is missing"),
        (lambda *_: [], "{path}: contains 0 queries that differ from the datasheet; split again"),
    ],
)
def test_a_changed_split_file(root, change, line):
    path = root / "anew" / "test-ood.jsonl"
    lines, other = path.read_text().splitlines(), (root / "anew" / "train.jsonl").read_text().splitlines()
    assert len(lines) == 48  # so the numbers below
    path.write_text("".join(f"{entry}\n" for entry in change(lines, other)))
    names = {"first": json.loads(lines[0])["query_id"], "video": json.loads(other[0])["video_id"]}
    assert told(InputError, root / "anew").startswith(line.format(path=path, **names))
    assert load_annotations(str(root / "anew"), "train").n_queries > 0  # the others can still be read


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"order": "sideways"}, "{sheet}:1: field order: invalid enum value 'sideways'"),
        ({"order": 1}, "{sheet}:1: field order: got a whole number, expected text"),
        ({"order": "random", "seed": -1}, "{sheet}:1: field seed: got -1, "),
        # Ids of another seed are those of no query.
        ({"order": "random", "seed": 1}, "{folder}/test-ood.jsonl:1: field query_id: got query "),
    ],
)
def test_a_changed_order(root, change, line):
    folder = root / "anew"
    (folder / "datasheet.json").write_text(json.dumps(sheet_of(folder) | change))
    assert told(InputError, folder).startswith(line.format(sheet=folder / "datasheet.json", folder=folder))


def test_a_missing_split_file(root):
    (root / "anew" / "val.jsonl").unlink()
    expected = f"{root}/anew/val.jsonl: is missing, expected as in the datasheet; split again"
    assert told(InputError, root / "anew", "val") == expected


# ----------------------------------------------------------------------------------- what is no datasheet


def in_source(**fields):
    return lambda sheet: json.dumps(sheet | {"source": sheet["source"] | fields})


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda sheet: json.dumps(sheet, indent=2)[:300], "{path}:"),
        (lambda _: "", "{path}:1: input data was truncated, expected JSON"),
        (lambda _: "[]", "{path}:1: got a list, expected an object"),
        (lambda _: "{}", "{path}:1: field source: is missing"),
        (lambda sheet: json.dumps(sheet | {"source": "mine.jsonl"}), "{path}:1: field source: got text"),
        (
            lambda sheet: json.dumps({k: v for k, v in sheet.items() if k != "splits"}),
            "{path}:1: field splits: is missing",
        ),
        (lambda sheet: json.dumps(sheet | {"splits": []}), "{path}:1: field splits: got a list"),
        (
            lambda sheet: json.dumps(sheet | {"splits": {k: v for k, v in sheet["splits"].items() if k != "val"}}),
            "{path}: field splits: val is missing, expected train, val, test-iid, test-ood",
        ),
        (
            lambda sheet: json.dumps(sheet | {"splits": sheet["splits"] | {"val": {"n_queries": "12"}}}),
            "{path}:1: field splits",
        ),
        (in_source(dataset="tacos"), "{path}: field source: expected a dataset or annotations, with splits"),
        (in_source(annotations=None), "{path}: field source: expected a dataset or annotations, with splits"),
        (in_source(splits={}), "{path}: field source: expected a dataset or annotations, with splits"),
        (in_source(annotations=7), "{path}:1: field source.annotations: got a whole number"),
        (in_source(annotations=""), "{path}: the annotations it was made from are missing at "),
        (in_source(annotations="a\0b"), "{path}: the annotations it was made from are missing at "),
    ],
)
def test_a_broken_datasheet(root, change, line):
    path = root / "anew" / "datasheet.json"
    path.write_text(change(sheet_of(root / "anew")))
    with pytest.raises(TrueMomentError) as caught:
        load_annotations(str(root / "anew"), "test-ood")
    assert str(caught.value).startswith(line.format(path=path))
    assert len(str(caught.value).splitlines()) == 1
    assert run(["datasets", "check", str(root / "anew")]) != 3  # no bug of ours


@pytest.mark.parametrize("itself", [".", "anew", "{root}/anew", "../anew"])
def test_a_folder_is_made_of_no_folder(root, monkeypatch, itself):
    monkeypatch.chdir(root)
    itself = itself.format(root=root)
    path = root / "anew" / "datasheet.json"
    path.write_text(json.dumps(sheet_of(root / "anew") | {"source": {"dataset": itself, "splits": {"train": "0"}}}))
    assert told(InputError, Path("anew")).startswith(f"anew/datasheet.json: field source.dataset: got {itself!r}, ")


@pytest.mark.parametrize("name", ["no/such", "./nowhere", "/nowhere/at/all"])
def test_a_path_that_is_not_there(name):
    with pytest.raises(MissingFileError) as caught:
        load_annotations(name, "val")
    named = name.removeprefix("./")
    assert str(caught.value) == (
        f"{named}: no such folder; expected a dataset's name, or a folder that 'truemoment resplit' made"
    )


def test_a_folder_without_a_datasheet(tmp_path):
    assert told(MissingFileError, tmp_path) == (
        f"{tmp_path}: contains no datasheet.json; expected a dataset's name, or a folder that 'truemoment resplit' made"
    )


def test_no_name_is_not_this_folder(root, monkeypatch):
    monkeypatch.chdir(root / "anew")  # as --dataset "$FORGOTTEN" would have it
    with pytest.raises(UsageError, match=r"^unknown dataset '', expected one that "):
        load_annotations("", "val")


def test_a_name_without_a_slash_stays_an_unknown_dataset(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "afile").write_text("")
    expected = {"nowhere": "one that 'truemoment datasets list' shows", "afile": "the option --annotations for a file"}
    for name, hint in expected.items():
        with pytest.raises(UsageError, match=f"^unknown dataset '{name}', expected {hint}"):
            load_annotations(name, "val")


def test_a_dataset_goes_before_a_folder_of_its_name(root, monkeypatch):
    shutil.move(root / "anew", root / "tacos")
    monkeypatch.chdir(root)
    assert get_dataset("tacos").title == "TACoS"
    assert load_annotations("./tacos", "val").dataset == "tacos"


# ------------------------------------------------------------------------------------------- files of it


def test_its_files_and_its_source_are_known(root):
    names = {path.resolve() for path in files_of_folder(root / "anew")}
    assert {root / "mine.jsonl", *(root / "anew" / f"{split}.jsonl" for split in SPLITS)} < names
    (root / "anew" / "datasheet.json").write_text("{")
    assert {path.resolve() for path in files_of_folder(root / "anew")} == names - {root / "mine.jsonl"}


def test_the_file_in_the_folder_goes_before_the_one_outside(root):
    assert found_file(root / "anew", "../mine.jsonl").resolve() == root / "mine.jsonl"
    shutil.copy(root / "mine.jsonl", root / "anew")
    assert found_file(root / "anew", "../mine.jsonl").resolve() == root / "anew" / "mine.jsonl"
