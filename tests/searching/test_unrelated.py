"""The match of a moment: how it compares with the best moments of unrelated sentences."""

import re

import numpy as np
import pytest
from drawn_indexes import N_DIMENSIONS, sentences_near

from truemoment.base.errors import InputError
from truemoment.media.video.encoders import load_encoder
from truemoment.searching.index import Index
from truemoment.searching.layout import UNRELATED
from truemoment.searching.median_scores import median_scores
from truemoment.searching.retrieval import search_index
from truemoment.searching.stopping import RetrievedMoments
from truemoment.searching.unrelated import (
    STANDS_OUT,
    Unrelated,
    plain_sentences,
    unrelated_of,
    with_matches,
    write_unrelated,
)
from truemoment.searching.writing import remove_index


class DrawnWords:
    """A model that draws the vector of a sentence."""

    embedded = 0

    def sentences(self, texts):
        self.embedded += len(texts)
        return np.stack([np.random.default_rng(list(text.encode())).standard_normal(N_DIMENSIONS) for text in texts])


@pytest.fixture
def drawn(draw):
    return draw(12)


def test_the_formula_sentence_by_sentence(drawn):
    """The formulas of the module's docstring, in loops; the quantile is linear between order statistics (NumPy)."""
    others = np.random.default_rng(0).standard_normal((40, N_DIMENSIONS))
    unrelated = Unrelated.of(drawn, others)
    pieces = np.concatenate([drawn.pieces(name).astype(np.float64) for name in drawn])
    vector = sentences_near(drawn, 1)[0]

    def cosines(sentence, rows):  # of length 1
        return rows @ sentence / np.linalg.norm(sentence)

    above = np.array([cosines(other, pieces) - np.median(cosines(other, pieces)) for other in others])
    best = [max(above[b] - np.quantile(above, 0.95, axis=0)) for b in range(40)]
    assert unrelated.best == pytest.approx(sorted(best), abs=1e-4)

    (moment,) = search_index(drawn, vector[None], 1)[0]
    rows = drawn[moment.video_id][round(2 * moment.start_s) : round(2 * moment.end_s)].astype(np.float64)
    mean = rows.mean(axis=0)[None] / np.linalg.norm(rows.mean(axis=0))
    of_others = [cosines(other, mean)[0] - np.median(cosines(other, pieces)) for other in others]
    median = median_scores(drawn, vector)[0]
    excess = cosines(vector, mean)[0] - median - np.quantile(of_others, 0.95)
    expected = 1 - (1 + sum(one >= excess for one in best)) / 41
    (found,) = with_matches(drawn, unrelated, vector, median, [moment])
    assert found.match == pytest.approx(expected, abs=1 / 41 + 1e-4)  # one sentence may lie within rounding
    assert found[:4] == moment[:4]


def test_unrelated_sentences_stand_out_as_rarely_as_stated(drawn):
    """Sentences drawn like the unrelated ones are exchangeable with them, so 8 % of their best pieces reach 92 %."""
    rng = np.random.default_rng(1)
    unrelated = Unrelated.of(drawn, rng.standard_normal((400, N_DIMENSIONS)))
    fresh = Unrelated.of(drawn, rng.standard_normal((400, N_DIMENSIONS)))
    reached = np.searchsorted(unrelated.best, fresh.best) / 401 >= STANDS_OUT
    assert 0.03 < reached.mean() < 0.14  # 0.08, and four standard errors of both draws


def test_a_moment_that_is_there_stands_out(drawn):
    unrelated = Unrelated.of(drawn, 1.0 + np.random.default_rng(0).standard_normal((200, N_DIMENSIONS)))  # as rows are
    near = sentences_near(drawn, 20, noise=0.1)
    medians = median_scores(drawn, near)
    found = search_index(drawn, near, 3)
    matched = [
        with_matches(drawn, unrelated, vector, median, moments)
        for vector, median, moments in zip(near, medians, found, strict=True)
    ]
    assert sum(not RetrievedMoments(moments, 1, "all").nothing_stands_out for moments in matched) >= 19
    assert not RetrievedMoments(found[0], 1, "all").nothing_stands_out  # nothing was compared


def test_an_index_keeps_them_until_its_videos_change(drawn):
    model = DrawnWords()
    fresh = unrelated_of(drawn, model)
    write_unrelated(drawn, model)
    write_unrelated(drawn, model)
    assert model.embedded == 2 * len(plain_sentences())  # not again
    kept = unrelated_of(drawn, model)
    assert model.embedded == 2 * len(plain_sentences())
    for name in ("vectors", "median", "best"):
        assert np.array_equal(getattr(kept, name), getattr(fresh, name))
    about = next(drawn.path.glob("videos/*/about.json"))
    about.write_text(re.sub('"0:([0-9]+)"', '"1:\\1"', about.read_text()))  # another file of the same name
    unrelated_of(Index(drawn.path), model)
    assert model.embedded == 3 * len(plain_sentences())
    remove_index(drawn.path)
    assert not drawn.path.exists()


@pytest.mark.parametrize(
    "damage", [lambda data: data[: len(data) // 2], lambda _: b"", lambda _: b"PK\3\4" + b"0" * 99]
)
def test_a_damaged_file_is_refused(drawn, damage):
    model = DrawnWords()
    write_unrelated(drawn, model)
    file = drawn.path / UNRELATED
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(InputError, match=re.escape(UNRELATED)):
        unrelated_of(drawn, model)


def test_short_videos_are_not_compared(draw):
    short = draw(1)  # 15 pieces of 4 s
    assert unrelated_of(short, DrawnWords()) is None


def test_the_included_model_knows_the_words_of_its_plain_sentences():
    model = load_encoder("scenes")
    assert len(set(model.plain_sentences)) == 250
    assert {word for sentence in model.plain_sentences for word in sentence.split()} <= model.vocabulary
    assert len(plain_sentences()) == len(set(plain_sentences())) > 200
