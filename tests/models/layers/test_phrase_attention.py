import pytest
import torch

from truemoment.learning.models.mdd import PhraseAttention

# Trees as lists: the position of each verb, with those of its nouns. One without verbs, verbs without nouns, a noun
# under two verbs, and a noun and a verb in any order.
TREES = [
    [],
    [(2, [])],
    [(1, [0, 3]), (4, [3, 5])],
    [(5, [0]), (0, []), (3, [1, 2, 4])],
]
HIDDEN = 6


def as_tensors(trees, n_verbs, n_nouns):
    verbs = torch.full((len(trees), n_verbs), -1)
    nouns = torch.full((len(trees), n_verbs, n_nouns), -1)
    for b, tree in enumerate(trees):
        for v, (verb, of_verb) in enumerate(tree):
            verbs[b, v] = verb
            nouns[b, v, : len(of_verb)] = torch.tensor(of_verb)
    return verbs, nouns


def slowly(layer, sentence, tokens, tree):
    """Equations 3 to 7 of MDD for one sentence, node by node."""

    def score(parent, child):
        return layer.score(torch.cat([layer.parent(parent), layer.child(child)]).tanh())

    if not tree:
        return sentence
    verb_scores = [score(sentence, tokens[verb]) for verb, _ in tree]
    alpha = torch.cat(verb_scores).softmax(0)
    of_verbs = sum(weight * tokens[verb] for weight, (verb, _) in zip(alpha, tree, strict=True))
    gates = []
    for (verb, nouns), verb_score in zip(tree, verb_scores, strict=True):
        beta = torch.cat([verb_score, *(score(of_verbs, tokens[noun]) for noun in nouns)]).softmax(0)
        gates.append(sum(weight * tokens[place] for weight, place in zip(beta, [verb, *nouns], strict=True)))
    return sentence + sentence * (sum(gates) / len(gates))


@pytest.fixture
def layer():
    torch.manual_seed(0)
    return PhraseAttention(HIDDEN)


@pytest.fixture
def encoded():
    generator = torch.Generator().manual_seed(1)
    shapes = (len(TREES), HIDDEN), (len(TREES), 6, HIDDEN)
    return tuple(torch.randn(shape, generator=generator) for shape in shapes)


@pytest.mark.parametrize(("n_verbs", "n_nouns"), [(3, 3), (5, 4)])  # without and with padding for all
def test_it_is_the_formula_for_each_sentence(layer, encoded, n_verbs, n_nouns):
    sentence, tokens = encoded
    query = layer(sentence, tokens, *as_tensors(TREES, n_verbs, n_nouns))
    expected = torch.stack([slowly(layer, q, h, tree) for q, h, tree in zip(sentence, tokens, TREES, strict=True)])
    torch.testing.assert_close(query, expected)


def test_one_verb_without_nouns_gates_alone(layer, encoded):
    sentence, tokens = encoded
    query = layer(sentence, tokens, *as_tensors([[(3, [])]] * len(TREES), 2, 1))
    torch.testing.assert_close(query, sentence * (1 + tokens[:, 3]))


def test_without_verbs_the_sentence_stands_as_it_is(layer, encoded):
    sentence, tokens = encoded
    assert torch.equal(layer(sentence, tokens, *as_tensors([[]] * len(TREES), 2, 1)), sentence)


@pytest.mark.parametrize(("n_verbs", "n_nouns"), [(0, 0), (2, 0)])
def test_no_place_for_phrases_is_no_phrases(layer, encoded, n_verbs, n_nouns):
    sentence, tokens = encoded
    assert torch.equal(layer(sentence, tokens, *as_tensors([[]] * len(TREES), n_verbs, n_nouns)), sentence)


def test_nouns_of_a_verb_that_is_none_do_not_count(layer, encoded):
    sentence, tokens = encoded
    verbs, nouns = as_tensors(TREES, 4, 3)
    expected = layer(sentence, tokens, verbs, nouns)
    nouns[:, 3, 0] = 1
    assert torch.equal(layer(sentence, tokens, verbs, nouns), expected)


def test_order_of_verbs_and_nouns_does_not_count(layer, encoded):
    sentence, tokens = encoded
    verbs, nouns = as_tensors(TREES, 3, 3)
    turned = layer(sentence, tokens, verbs.flip(1), nouns.flip(1, 2))
    torch.testing.assert_close(turned, layer(sentence, tokens, verbs, nouns))


def test_tokens_outside_the_tree_do_not_count(layer, encoded):
    sentence, tokens = encoded
    trees = as_tensors(TREES[:3], 2, 2)
    expected = layer(sentence[:3], tokens[:3], *trees)
    changed = tokens[:3].clone()
    changed[1, [0, 1, 3, 4, 5]] = 100.0
    changed[2, 2] = 100.0
    assert torch.equal(layer(sentence[:3], changed, *trees), expected)


def test_slopes_are_finite_and_reach_every_weight(layer, encoded):
    sentence, tokens = (part.requires_grad_() for part in encoded)
    layer(sentence, tokens, *as_tensors(TREES, 4, 4)).square().sum().backward()
    for slope in [sentence.grad, tokens.grad, *(weight.grad for weight in layer.parameters())]:
        assert slope.isfinite().all()
        assert slope.abs().max() > 0


def test_number_of_weights():
    # mdd.md, section 8.
    assert sum(weight.numel() for weight in PhraseAttention(512).parameters()) == 525_312
