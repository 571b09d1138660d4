"""Rows of the words of each query in place of a vocabulary, as published for QVHighlights (detr.md, 2.1 and 12.3)."""

from pathlib import Path

import h5py
import numpy as np
import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)

from truemoment.base.errors import InputError, UsageError  # noqa: E402 - PyTorch may be missing
from truemoment.base.records import Queries  # noqa: E402 - as above
from truemoment.evaluation.evaluate import evaluate  # noqa: E402 - as above
from truemoment.learning.training import checkpoints  # noqa: E402 - as above
from truemoment.learning.training.grounding import TrainedGrounder  # noqa: E402 - as above
from truemoment.learning.training.performing import perform  # noqa: E402 - as above
from truemoment.learning.training.query_rows import QueryRows  # noqa: E402 - as above
from truemoment.learning.training.recipe_sources import MixtureSource  # noqa: E402 - as above
from truemoment.learning.training.recipes import read_recipe  # noqa: E402 - as above
from truemoment.media.features.words import WordFiles  # noqa: E402 - as above
from truemoment.media.video.encoders import load_encoder  # noqa: E402 - as above

ROWS = {"v#0": 3, "v#1": 5}
"""Number of rows of each query."""


def rows_of(query_id, width=4):
    return np.random.default_rng([len(query_id), ROWS.get(query_id, 3)]).standard_normal((ROWS[query_id], width))


@pytest.fixture
def put(tmp_path):
    """Write the rows of the queries in a form, and return the folder or file."""

    def write(form):
        folder = tmp_path / form
        if form == "hdf5":
            with h5py.File(tmp_path / "words.h5", "w") as file:
                file["qidv#0"] = rows_of("v#0").astype("f4")
                file["qidv#1/last_hidden_state"] = rows_of("v#1").astype("f4")
                file["qidv#1/pooler_output"] = np.zeros(4, dtype="f4")
            return tmp_path / "words.h5"
        folder.mkdir()
        for query_id in ROWS:
            rows = rows_of(query_id).astype("f4")
            if form == "published":
                np.savez(folder / f"qid{query_id}.npz", pooler_output=np.zeros(4), last_hidden_state=rows)
            elif form == "without qid":
                np.savez(folder / f"{query_id}.npz", anything=rows, pooler_output=np.zeros(4))
            else:
                np.save(folder / f"{query_id}.npy", rows)
        return folder

    return write


def test_sources_of_a_mixture_have_rows_of_their_own(put, tmp_path):
    """A query of a source is looked up by its own id; others, also with a mark in their id, are those of the run."""
    (tmp_path / "own").mkdir()
    np.save(tmp_path / "own" / "v#0.npy", np.full((1, 4), 7, dtype="f4"))
    recipe = read_recipe("moment-detr", ["text.vectors=queries"])
    sources = [
        MixtureSource(annotations="a.jsonl", queries=str(tmp_path / "own")),
        MixtureSource(annotations="b.jsonl"),
    ]
    rows = QueryRows.open(recipe, str(put("npy")), sources)
    ids = ["b/v#1", "a/v#0", "v#0"]
    read = rows.store.words(Queries(ids, ["v"] * 3, np.full(3, 9.0), ["a"] * 3))
    for table, expected in zip(read, (rows_of("v#1"), np.full((1, 4), 7), rows_of("v#0")), strict=True):
        np.testing.assert_array_equal(table, expected.astype("f4"))
    with pytest.raises(InputError, match=r"own.* has no rows of 1 of 1 queries: 'v#1'"):
        rows.store.words(Queries(["a/v#1"], ["v"], np.array([9.0]), ["a"]))


@pytest.mark.parametrize("form", ["published", "without qid", "npy", "hdf5"])
def test_every_form_is_read_as_it_is(put, queries_of, form):
    words = WordFiles(put(form))
    assert words.n_dimensions == 4
    for query_id, rows in zip(ROWS, words.words(queries_of("a door", "a dog")), strict=True):
        np.testing.assert_array_equal(rows, rows_of(query_id).astype("f4"))


def test_rows_are_cut_and_normalised_as_the_recipe_sets_it(put, queries_of):
    """The text rows likewise: detr.md, 2.2."""
    recipe = read_recipe("tan2d", ["text.vectors=queries", "text.most=4", "normalise=each"])
    table = QueryRows.open(recipe, str(put("published"))).of(queries_of("a door", "a dog"))
    assert table.n_words.tolist() == [3, 4]
    padded = table.padded()
    assert padded.shape == (2, 4, 4)
    assert not padded[0, 3].any()
    for number, query_id in enumerate(ROWS):
        rows = rows_of(query_id)[:4]
        expected = rows / (np.linalg.norm(rows, axis=1, keepdims=True) + 1e-5)
        np.testing.assert_allclose(padded[number, : len(rows)], expected, rtol=1e-5)


def test_a_file_that_cannot_be_used_is_named(put, queries_of, tmp_path):
    queries, folder = queries_of("a door", "a dog"), put("published")
    (folder / "qidv#1.npz").unlink()
    with pytest.raises(InputError, match=r"has no rows of 1 of 2 queries: 'v#1'.*names such as 'qidv#0'"):
        WordFiles(folder).words(queries)
    marker = tmp_path / "marker"
    for content, told in (
        (np.full((2, 4), np.nan), "2 of 2 rows have numbers that are not finite"),
        (np.zeros((2, 5)), "got 5 numbers a row, expected 4"),
        (np.zeros((2, 4), dtype=np.int64), "expected float16"),
        (np.array([_Written(marker)], dtype=object), "Python objects"),
    ):
        np.savez(folder / "qidv#1.npz", last_hidden_state=content)
        with pytest.raises(InputError, match=told):
            WordFiles(folder).words(queries)
    np.savez(folder / "qidv#1.npz", one=np.zeros((2, 4)), other=np.zeros((2, 4)))
    with pytest.raises(InputError, match="has 'one', 'other', expected 'last_hidden_state' or one table only"):
        WordFiles(folder).words(queries)
    assert not marker.exists()


class _Written:
    """What writes a file when it is unpickled."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return Path.touch, (self.marker,)


def test_only_recipes_that_read_rows_take_files_and_they_need_them(put):
    rows = read_recipe("tan2d", ["text.vectors=queries"])
    with pytest.raises(UsageError, match="give --queries DIR"):
        QueryRows.open(rows, "")
    with pytest.raises(UsageError, match="got a recipe with 'learned'"):
        QueryRows.open(read_recipe("tan2d"), str(put("published")))
    assert QueryRows.open(read_recipe("tan2d"), "") is None
    with pytest.raises(InputError, match="got queries, but mdd needs phrases"):
        read_recipe("mdd", ["text.vectors=queries"])


@pytest.mark.slow
def test_a_run_on_rows_learns_answers_and_is_read_back(make_run, world, tmp_path):
    """It reads nothing else of the sentence: with the rows of another query it answers otherwise."""
    folder, test = tmp_path / "words", world.splits["test-iid"]
    folder.mkdir()
    for split in ("train", "val", "test-iid"):
        for query_id, sentence in zip(*_columns(world.splits[split]), strict=True):
            rng = np.random.default_rng(list(sentence.encode()))
            np.savez(folder / f"qid{query_id}.npz", last_hidden_state=rng.standard_normal((4, 6)).astype("f4"))
    run = make_run("tan2d", "text.vectors=queries", tests={"test-iid": test}, queries=str(folder))
    result = perform(run, tmp_path / "run")
    assert result.history[1].loss["total"] < result.history[0].loss["total"]
    record = checkpoints.read_run(tmp_path / "run")
    assert (record.n_vector, record.queries) == (6, str(folder))
    assert record.made_by["queries"].startswith("folder:words#")
    again = TrainedGrounder.load(tmp_path / "run", store=world.features)
    answers = again.ground(test.queries)
    kept = {row.measure: float(row.value) for row in result.tests}
    assert evaluate(test, answers, ["mIoU"]).value("mIoU") == pytest.approx(kept["mIoU"], abs=1e-6)
    assert again.unknown_words(test.queries) == (0, 4 * test.n_queries)
    other = tmp_path / "other"
    other.mkdir()
    names = [f"qid{query_id}.npz" for query_id in test.queries.query_id]
    for name, source in zip(names, names[1:] + names[:1], strict=True):
        (other / name).write_bytes((folder / source).read_bytes())
    swapped = TrainedGrounder.load(tmp_path / "run", store=world.features, queries=str(other)).ground(test.queries)
    assert not np.array_equal(swapped.score, answers.score)


def _columns(split):
    return split.queries.query_id.tolist(), split.queries.sentence.tolist()


@pytest.mark.slow
def test_nothing_is_written_for_a_run_whose_queries_have_no_rows(make_run, tmp_path):
    (tmp_path / "words").mkdir()
    np.savez(tmp_path / "words" / "qidother.npz", last_hidden_state=np.zeros((2, 6), dtype="f4"))
    run = make_run("tan2d", "text.vectors=queries", queries=str(tmp_path / "words"))
    with pytest.raises(InputError, match="has no rows of"):
        perform(run, tmp_path / "run")
    assert not (tmp_path / "run" / "run.json").exists()


@pytest.mark.slow
def test_a_text_transformer_makes_the_rows_that_its_files_contain(queries_of, tmp_path):
    """With a small CLIP model, whose rows of tokens tests/video/test_encoders.py holds to the library's."""
    encoder, queries = load_encoder("scenes", device="cpu"), queries_of("a red ring", "a blue square", "a red ring")
    for query_id, rows in zip(queries.query_id, encoder.tokens(queries.sentence.tolist()), strict=True):
        np.savez(tmp_path / f"qid{query_id}.npz", last_hidden_state=rows)
    changes = ["normalise=each", "text.most=5"]
    made = QueryRows.open(read_recipe("tan2d", ["text.vectors=hidden:scenes", *changes]), "")
    read = QueryRows.open(read_recipe("tan2d", ["text.vectors=queries", *changes]), str(tmp_path))
    assert made.store.name.startswith("hidden:scenes#")
    assert made.store.n_dimensions == read.store.n_dimensions
    np.testing.assert_allclose(made.of(queries).padded(), read.of(queries).padded(), atol=1e-6)
