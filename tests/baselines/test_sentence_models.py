"""The learned blind floors: what they learn from words, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from truemoment import Annotations
from truemoment.base.errors import UsageError
from truemoment.baselines.base import deal_folds
from truemoment.baselines.expected_value import ExpectedValue
from truemoment.baselines.sentence_neighbours import SentenceNeighbours, Sentences, unit_weights
from truemoment.baselines.sentence_network import SentenceNetwork
from truemoment.data.language.bags import bags_of, terms_of
from truemoment.evaluation.evaluate import evaluate

PLACES = {"opens": (0.0, 0.3), "closes": (0.7, 1.0), "waits": (0.35, 0.65)}
MODELS = {
    "network": lambda: SentenceNetwork(np.random.default_rng(0)),
    "neighbours": SentenceNeighbours,
}


def world(seed, n=400, *, shuffled=False):
    """Queries whose verb tells the place, three a video; `shuffled`: the verbs are dealt anew, so it tells nothing."""
    rng = np.random.default_rng(seed)
    verbs = rng.choice(list(PLACES), n)
    told = rng.permutation(verbs) if shuffled else verbs
    rows = []
    for k, (verb, word) in enumerate(zip(verbs, told, strict=True)):
        duration_s = float(rng.integers(20, 60))
        start, end = (np.array(PLACES[verb]) + rng.uniform(-0.02, 0.02, 2)).clip(0, 1) * duration_s
        sentence = f"a {rng.choice(['man', 'woman', 'child'])} {word} the {rng.choice(['door', 'box', 'bag'])}"
        rows.append((f"q{k}", f"{seed}v{k // 3}", duration_s, sentence, start, end))
    return Annotations.from_rows(rows, split=f"s{seed}")


@pytest.mark.parametrize("model", MODELS)
def test_they_read_the_words(model):
    # By hand: the verb tells the place, so all can be hit; without it the best constant hits about a third.
    fitted = ExpectedValue(MODELS[model]()).fit(world(1))
    test = world(2)
    assert evaluate(test, fitted.ground(test.queries), "R@1,IoU=0.5").value("R@1,IoU=0.5") > 0.97


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_words_that_tell_nothing_give_what_a_constant_gives(model):
    fitted = ExpectedValue(MODELS[model]()).fit(world(1, shuffled=True))
    test = world(2)
    assert evaluate(test, fitted.ground(test.queries), "R@1,IoU=0.5").value("R@1,IoU=0.5") < 0.45


def test_the_network_reads_durations():
    # Places by duration alone: short videos early, long ones late.
    rng = np.random.default_rng(0)
    rows = []
    for k in range(600):
        duration_s = float(rng.uniform(10, 110))
        low = 0.0 if duration_s < 60 else 0.6
        rows.append((f"q{k}", f"v{k}", duration_s, "a man waits", low * duration_s, (low + 0.3) * duration_s))
    annotations = Annotations.from_rows(rows)
    train, test = (annotations.select_queries(np.arange(600) % 2 == of) for of in (0, 1))
    answers = ExpectedValue(MODELS["network"]()).fit(train).ground(test.queries)
    assert evaluate(test, answers, "R@1,IoU=0.5").value("R@1,IoU=0.5") > 0.9


@pytest.mark.slow
def test_threads_change_nothing():
    # Figures must not depend on the number of workers: float64, and training on one thread.
    train, test = world(3), world(4)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(ExpectedValue(MODELS["network"]()).fit(train).ground(test.queries, 3))
    assert found[0].start_s.tolist() == found[1].start_s.tolist()
    assert found[0].end_s.tolist() == found[1].end_s.tolist()


def test_folds_keep_videos_whole():
    video_id = np.array([f"v{k // 3}" for k in range(90)], dtype=object)
    fold = deal_folds(video_id, 10, np.random.default_rng(0))
    assert all(len(set(fold[3 * k : 3 * k + 3])) == 1 for k in range(30))
    assert np.bincount(fold[::3]).tolist() == [3] * 10


def test_a_single_video_can_be_learned_from():
    rows = [(f"q{k}", "v", 30.0, f"word{k} here", 3.0 * k, 3.0 * k + 6) for k in range(5)]
    answers = ExpectedValue(MODELS["network"]()).fit(Annotations.from_rows(rows)).ground(world(2).queries)
    assert len(answers) == 400


def test_cosines_are_those_of_tf_idf():
    # Slow: idf = log(N / n_t) of terms in 2 to 20 % of the sentences; cosine of two such vectors.
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(30)]
    sentences = [" ".join(rng.choice(words, 4, replace=False)) for _ in range(60)]
    known = Sentences.of(sentences)
    bags = bags_of([terms_of(sentence) for sentence in sentences], known.terms)
    count = np.bincount(bags.terms, minlength=len(known.terms))
    assert count.min() >= 2
    assert count.max() <= 12
    table = np.zeros((60, len(known.terms)))
    for q in range(60):
        own = bags.terms[bags.offsets[q] : bags.offsets[q + 1]]
        table[q, own] = np.log(60 / count[own])
    length = np.linalg.norm(table, axis=1, keepdims=True)
    table /= np.where(length > 0, length, 1)
    weights = unit_weights(bags, known.idf)
    for q in range(60):
        of = slice(bags.offsets[q], bags.offsets[q + 1])
        np.testing.assert_allclose(known.cosines(bags.terms[of], weights[of], 60), table @ table[q], atol=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_unfitted_models_say_so(model):
    with pytest.raises(UsageError, match=r"has to be fitted first$"):
        MODELS[model]().probabilities(world(1).queries)
