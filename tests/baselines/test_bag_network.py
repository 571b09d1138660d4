"""The networks of bags against their formulas, written out slowly."""

from __future__ import annotations

import math
from itertools import pairwise, permutations

import numpy as np
import pytest

from truemoment.baselines.bag_network import Adam, BagNetworks, blocks_of, gradient, sums_of_rows, train
from truemoment.baselines.paragraph_memory import Memory, decays
from truemoment.data.language.bags import Bags

MEMBERS = 2

PARAGRAPHS = np.array([0, 2, 3])
"""The first two sentences are a paragraph; networks without a memory do not read it."""


@pytest.fixture
def bags():
    return Bags(np.array([0, 2, 1, 0, 3, 4]), np.array([0, 2, 3, 6]))


def some_networks(seed=0, n_terms=5, n_hidden=4, **has):
    prior = np.array([0.5, 0.3, 0.2])
    return BagNetworks.initial(n_terms, n_hidden, MEMBERS, prior, np.random.default_rng(seed), **has)


def slow_units(networks, g, bags, q):
    """The sums of the docstrings of both modules, sentence by sentence."""
    n_hidden = networks.hidden_bias.shape[1]
    sums = [networks.embedding[terms, g].sum(axis=0) / math.sqrt(len(terms)) for terms in lists(bags)]
    units = sums[q][:n_hidden].copy()
    (paragraph,) = [range(a, b) for a, b in pairwise(PARAGRAPHS.tolist()) if a <= q < b]
    for other in paragraph if networks.has_memory else ():
        if other != q:
            decay = decays(n_hidden)
            part = sums[other][n_hidden : 2 * n_hidden] if other < q else sums[other][2 * n_hidden :]
            units += np.sqrt(1 - decay**2) * decay ** (abs(q - other) - 1) * part
    return networks.hidden_bias[g] + units


def slow_probabilities(networks, g, bags, q):
    """The formula of the module's docstring, one number at a time."""
    hidden, output = [max(0.0, unit) for unit in slow_units(networks, g, bags, q).tolist()], networks.output[g]
    n_hidden = len(hidden)
    logits = [
        networks.output_bias[g, k] + sum(hidden[h] * output[h, k] for h in range(n_hidden))
        for k in range(output.shape[1])
    ]
    whole = sum(math.exp(logit) for logit in logits)
    return [math.exp(logit) / whole for logit in logits]


def lists(bags):
    return [bags.terms[a:b].tolist() for a, b in pairwise(bags.offsets)]


@pytest.mark.parametrize("has_memory", [False, True])
def test_probabilities(bags, has_memory):
    networks = some_networks(has_memory=has_memory)
    expected = [[slow_probabilities(networks, g, bags, q) for q in range(3)] for g in range(MEMBERS)]
    np.testing.assert_allclose(networks.members(bags, PARAGRAPHS), expected, rtol=1e-12)


def test_blocks_contain_whole_paragraphs(monkeypatch):
    # By hand: at most 4 sentences a block, or one paragraph.
    monkeypatch.setattr("truemoment.baselines.bag_network.BLOCK_BAGS", 4)
    assert blocks_of(np.array([0, 2, 4, 5, 11, 12])) == [0, 2, 3, 4, 5]


def test_decayed_sums_are_those_of_a_loop():
    rng = np.random.default_rng(4)
    first = np.array([0, 11, 12, 31])
    sums, derivative = rng.standard_normal((31, 2, 9)), rng.standard_normal((31, 2, 3))
    decay, memory = decays(3), Memory.of(first)
    expected = sums[:, :, :3].copy()
    for a, b in pairwise(first.tolist()):
        for i, j in permutations(range(a, b), 2):
            part = sums[j, :, 3:6] if j < i else sums[j, :, 6:]
            expected[i] += np.sqrt(1 - decay**2) * decay ** (abs(i - j) - 1) * part
    np.testing.assert_allclose(memory.read(sums), expected, rtol=1e-10)
    # What is read is linear in the sums, and its gradient the transpose.
    assert (memory.gradient(derivative) * sums).sum() == pytest.approx((derivative * expected).sum(), rel=1e-10)


def test_rounded_weights_give_nearly_the_same(bags):
    networks = some_networks()
    np.testing.assert_allclose(
        networks.rounded().members(bags, PARAGRAPHS), networks.members(bags, PARAGRAPHS), atol=2e-3
    )  # 11 bits


def test_before_training_they_are_near_the_prior(bags):
    np.testing.assert_allclose(some_networks().members(bags, PARAGRAPHS), [[[0.5, 0.3, 0.2]] * 3] * MEMBERS, atol=0.1)


def test_sums_of_rows():
    rng = np.random.default_rng(0)
    table, rows, offsets = rng.standard_normal((9, 4)), rng.integers(0, 9, 12), np.array([0, 1, 5, 7, 12])
    expected = [sum(table[row] for row in rows[a:b]) for a, b in pairwise(offsets)]
    np.testing.assert_allclose(sums_of_rows(table, rows, offsets[:-1], np.diff(offsets)), expected, rtol=1e-13)


@pytest.mark.parametrize("has_memory", [False, True])
def test_the_gradient_is_that_of_the_cross_entropy(bags, has_memory):
    # Central differences of the loss, every weight of both members, with dropout and weights of sentences as drawn.
    networks, target = some_networks(3, has_memory=has_memory), np.array([2, 0, 1])
    rng = np.random.default_rng(5)
    kept, weight = 2.0 * rng.integers(0, 2, (MEMBERS, 3, 4)), rng.random((MEMBERS, 3))

    def loss():
        total = 0.0
        for g in range(MEMBERS):
            for q in range(3):
                hidden = slow_units(networks, g, bags, q)
                logits = (np.maximum(hidden, 0) * kept[g, q]) @ networks.output[g] + networks.output_bias[g]
                total -= weight[g, q] * (logits[target[q]] - math.log(np.exp(logits).sum()))
        return total

    found = gradient(networks, bags, target, kept, weight, first=PARAGRAPHS)
    embedding = np.zeros_like(networks.embedding)
    for q, terms in enumerate(lists(bags)):
        embedding[terms] += found.sums[q].reshape(MEMBERS, -1)
    derivatives = (embedding, found.hidden_bias, found.output, found.output_bias)
    for part, derivative in zip(networks.parts, derivatives, strict=True):
        for at in np.ndindex(part.shape):
            before, step = part[at], 1e-6
            part[at] = before + step
            above = loss()
            part[at] = before - step
            below = loss()
            part[at] = before
            assert derivative[at] == pytest.approx((above - below) / (2 * step), abs=1e-8)


def test_adam_is_that_of_its_paper(bags):
    # Kingma and Ba 2015, algorithm 1, for a weight of the output and one of the embedding of term 0, over three steps.
    networks = some_networks(1)
    adam = Adam(networks)
    weights = [networks.output_bias[0, 0], networks.embedding[0, 1, 2]]
    moments = [[0.0, 0.0], [0.0, 0.0]]
    for t in (1, 2, 3):
        mask, weight = np.ones((MEMBERS, 3, 4)), np.ones((MEMBERS, 3))
        found = gradient(networks, bags, np.array([0, 1, 2]), mask, weight, first=PARAGRAPHS)
        of_term = (found.sums[0] + found.sums[2]).reshape(MEMBERS, -1)[1, 2]  # bags 0 and 2 contain term 0
        for i, g in enumerate((found.output_bias[0, 0], of_term)):
            moments[i] = [0.9 * moments[i][0] + 0.1 * g, 0.999 * moments[i][1] + 0.001 * g * g]
            mean, square = moments[i]
            weights[i] -= 0.01 * (mean / (1 - 0.9**t)) / (math.sqrt(square / (1 - 0.999**t)) + 1e-8)
        adam.step(bags, found, 0.01)
        # The paper's epsilon stands beside the corrected root, ours beside the uncorrected one: 1e-8 of a step of 0.01.
        assert [networks.output_bias[0, 0], networks.embedding[0, 1, 2]] == pytest.approx(weights, abs=1e-6)


def test_they_learn_a_batch_by_heart_but_what_a_member_leaves_out(bags):
    networks, target = some_networks(2, n_hidden=16), np.array([2, 0, 1])
    learns = np.ones((MEMBERS, 3), dtype=bool)
    learns[1, 1] = False
    rng = np.random.default_rng(0)
    train(networks, bags, target, learns, rng, first=np.arange(4), epochs=200, batch=2, rate=0.05, dropout=0.2)
    first, second = networks.members(bags, PARAGRAPHS)
    assert first.argmax(axis=1).tolist() == target.tolist()
    assert first.max(axis=1).min() > 0.9
    assert second[[0, 2]].argmax(axis=1).tolist() == [2, 1]
    assert second[1, 0] < first[1, 0]


def test_no_sentence():
    no_bags = Bags(np.array([], dtype=np.int64), np.array([0]))
    assert some_networks().members(no_bags, np.array([0])).shape == (MEMBERS, 0, 3)
