"""Vectors of words and of whole sentences, made by a text encoder that is named."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
pytest.importorskip("transformers", exc_type=ImportError)

from truemoment.base.errors import UsageError  # noqa: E402 - PyTorch may be missing
from truemoment.learning.training.examples import read_sentences  # noqa: E402 - as above
from truemoment.learning.training.performing import perform  # noqa: E402 - as above
from truemoment.learning.training.recipes import Text, read_recipe  # noqa: E402 - as above
from truemoment.learning.training.vocabulary import (  # noqa: E402 - as above
    UNKNOWN,
    TokenVocabulary,
    make_vocabulary,
    text_encoder_of,
    with_commit,
    word_numbers,
)
from truemoment.media.video import encoders  # noqa: E402 - as above
from truemoment.media.video.encoders import load_encoder  # noqa: E402 - as above

USED, NEWEST = "1" * 40, "2" * 40
"""Commits."""

SENTENCES = ["A red ring on water.", "a blue star at night", "  "]


def alike(one, other):
    return np.dot(one, other) / np.linalg.norm(one) / np.linalg.norm(other)


def test_a_sentence_is_one_token_with_the_vector_that_the_encoder_makes_of_it():
    text = Text(vectors="encoder:scenes", tokens="sentence")
    vocabulary = make_vocabulary(text, SENTENCES, SENTENCES, None)
    assert vocabulary.words == ("a blue star at night", "a red ring on water.")
    numbers, n_words = word_numbers([*SENTENCES, "a red ring"], vocabulary, "sentence")
    assert (numbers.ravel().tolist(), n_words.tolist()) == ([3, 2, UNKNOWN, UNKNOWN], [1, 1, 1, 1])
    expected = load_encoder("scenes").sentences(list(vocabulary.words))
    np.testing.assert_allclose(np.linalg.norm(vocabulary.vectors[2:], axis=1), 1, rtol=1e-6)
    assert (vocabulary.vectors[:2] == 0).all()
    for row, vector in enumerate(expected):
        assert alike(vocabulary.vectors[row + 2], vector) == pytest.approx(1, abs=1e-5)


def test_words_have_vectors_of_their_own():
    vocabulary = make_vocabulary(Text(vectors="encoder:scenes"), [], ["a red ring", "a ring"], None)
    assert vocabulary.words == ("a", "red", "ring")
    assert vocabulary.vectors.shape == (5, load_encoder("scenes").n_dimensions)


def test_no_sentence_at_all():
    assert make_vocabulary(Text(vectors="encoder:scenes"), [], [], None).words == ()


def test_a_model_that_listens_to_phrases_refuses_whole_sentences(queries_of):
    recipe = read_recipe("mdd", ["text.tokens=sentence"])
    with pytest.raises(UsageError, match=r"text\.tokens: got sentence, expected words: mdd listens to phrases"):
        read_sentences(queries_of("he runs"), TokenVocabulary(("he runs",)), recipe, frozenset({"phrases"}))


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A hub whose models are all the one that comes along; gives what was asked for, and the newest commit."""
    asked, newest = [], [USED]

    def fetched(name, commit):
        asked.append((name, commit))
        folder = tmp_path / "hub" / name / (commit or newest[0])
        return folder if folder.exists() else shutil.copytree(encoders._folder_of("scenes")[0], folder)

    monkeypatch.setattr(encoders, "_fetched", fetched)
    return asked, newest


def test_a_run_records_the_commit_of_its_text_encoder_and_goes_on_with_it(hub, make_run, tmp_path):
    """Somebody changes the model on the hub between two calls of the same command."""
    asked, newest = hub
    mine = make_run("blind-tan", "train.epochs=1", "text.vectors=encoder:some/model")
    run = perform(mine, tmp_path / "run").run
    assert run.text_encoder == run.made_by["text_encoder"] == f"some/model@{USED}"
    assert run.recipe == mine.recipe
    newest[0] = NEWEST
    asked.clear()
    assert perform(mine, tmp_path / "run").run == run
    assert set(asked) == {("some/model", USED)}


@pytest.mark.usefixtures("hub")
def test_only_text_encoders_of_the_hub_have_a_commit():
    for beginning in ("encoder:", "hidden:"):
        assert text_encoder_of(Text(vectors=f"{beginning}some/model@{NEWEST}")) == f"some/model@{NEWEST}"
    assert [text_encoder_of(Text(vectors=of)) for of in ("learned", "glove", "encoder:scenes", "encoder:.")] == [""] * 4


def test_the_recorded_commit_is_that_of_the_same_model_only():
    recorded = f"some/model@{USED}"
    for beginning in ("encoder:", "hidden:"):
        assert with_commit(Text(vectors=f"{beginning}some/model"), recorded).vectors == beginning + recorded
    for other in ("learned", "encoder:other/model", f"encoder:some/model@{NEWEST}"):
        assert with_commit(Text(vectors=other), recorded).vectors == other
    assert with_commit(Text(vectors="encoder:some/model"), "").vectors == "encoder:some/model"
