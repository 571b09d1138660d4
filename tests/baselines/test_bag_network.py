"""The network of bags against its formulas, written out slowly."""

from __future__ import annotations

import math

import numpy as np
import pytest

from truemoment.baselines.bag_network import Adam, BagNetwork, gradient, train_epoch
from truemoment.language.bags import Bags


@pytest.fixture
def bags():
    return Bags(np.array([0, 2, 1, 0, 3, 4]), np.array([0, 2, 3, 6]))


def a_network(seed=0, n_terms=5, n_hidden=4, n_classes=3):
    prior = np.array([0.5, 0.3, 0.2])[:n_classes]
    return BagNetwork.initial(n_terms, n_hidden, prior, np.random.default_rng(seed))


def slow_probabilities(network, terms):
    """The formula of the module's docstring, one number at a time."""
    size, n_hidden = math.sqrt(len(terms)), len(network.hidden_bias)
    hidden = [
        max(0.0, network.hidden_bias[h] + sum(network.embedding[t, h] for t in terms) / size) for h in range(n_hidden)
    ]
    logits = [
        network.output_bias[k] + sum(hidden[h] * network.output[h, k] for h in range(n_hidden))
        for k in range(len(network.output_bias))
    ]
    whole = sum(math.exp(logit) for logit in logits)
    return [math.exp(logit) / whole for logit in logits]


def test_probabilities(bags):
    network = a_network()
    lists = [bags.terms[a:b].tolist() for a, b in zip(bags.offsets, bags.offsets[1:], strict=False)]
    expected = [slow_probabilities(network, terms) for terms in lists]
    np.testing.assert_allclose(network.probabilities(bags), expected, rtol=1e-12)


def test_before_training_it_is_near_the_prior(bags):
    np.testing.assert_allclose(a_network().probabilities(bags), [[0.5, 0.3, 0.2]] * 3, atol=0.05)


def test_the_gradient_is_that_of_the_cross_entropy(bags):
    # Central differences of the loss, every weight, with dropout as drawn.
    network, target = a_network(3), np.array([2, 0, 1])
    kept = np.array([[2.0, 0, 2, 2], [2, 2, 0, 2], [0, 2, 2, 2]])

    def loss():
        total = 0.0
        for q, (a, b) in enumerate(zip(bags.offsets, bags.offsets[1:], strict=False)):
            terms = bags.terms[a:b]
            hidden = network.hidden_bias + network.embedding[terms].sum(axis=0) / math.sqrt(len(terms))
            logits = (np.maximum(hidden, 0) * kept[q]) @ network.output + network.output_bias
            total -= logits[target[q]] - math.log(np.exp(logits).sum())
        return total / len(bags)

    terms, found = gradient(network, bags, target, kept)
    embedding = np.zeros_like(network.embedding)
    embedding[terms] = found.embedding
    for part, derivative in zip(
        network.parts, (embedding, found.hidden_bias, found.output, found.output_bias), strict=True
    ):
        for at in np.ndindex(part.shape):
            before, step = part[at], 1e-6
            part[at] = before + step
            above = loss()
            part[at] = before - step
            below = loss()
            part[at] = before
            assert derivative[at] == pytest.approx((above - below) / (2 * step), abs=1e-8)


def test_adam_is_that_of_its_paper(bags):
    # Kingma and Ba 2015, algorithm 1, for one weight of the output bias over three steps.
    network = a_network(1)
    adam, weight = Adam(network, 0.01), network.output_bias[0]
    mean = square = 0.0
    for t in (1, 2, 3):
        terms, found = gradient(network, bags, np.array([0, 1, 2]), np.ones((3, 4)))
        g = found.output_bias[0]
        mean, square = 0.9 * mean + 0.1 * g, 0.999 * square + 0.001 * g * g
        weight -= 0.01 * (mean / (1 - 0.9**t)) / (math.sqrt(square / (1 - 0.999**t)) + 1e-8)
        adam.step(terms, found)
        # The paper's epsilon stands beside the corrected root, ours beside the uncorrected one: 1e-8 of a step of 0.01.
        assert network.output_bias[0] == pytest.approx(weight, abs=1e-7)


def test_it_learns_a_batch_by_heart(bags):
    network, target = a_network(2, n_hidden=16), np.array([2, 0, 1])
    adam, rng = Adam(network, 0.05), np.random.default_rng(0)
    for _ in range(100):
        train_epoch(network, adam, bags, target, rng, batch=2, dropout=0.2)
    assert network.probabilities(bags).argmax(axis=1).tolist() == target.tolist()
    assert network.probabilities(bags).max(axis=1).min() > 0.9


def test_no_sentence():
    assert a_network().probabilities(Bags(np.array([], dtype=np.int64), np.array([0]))).shape == (0, 3)
