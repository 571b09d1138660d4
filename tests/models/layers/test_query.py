"""The encoder of sentences."""

import torch

from truemoment.learning.models.layers.query import QueryEncoder


def make_encoder():
    torch.manual_seed(0)
    return QueryEncoder(4, 6, 2)


def make_words():
    torch.manual_seed(1)
    n_words = torch.tensor([3, 5, 1])
    words = torch.randn(3, 5, 4)
    words[torch.arange(5) >= n_words[:, None]] = 0
    return words, n_words


def test_a_sentence_is_what_stands_at_its_last_word():
    encoder, (words, n_words) = make_encoder(), make_words()
    sentence, tokens = encoder(words, n_words)
    for row, n in enumerate(n_words.tolist()):
        alone, _ = encoder.lstm(words[row : row + 1, :n])
        torch.testing.assert_close(sentence[row], alone[0, -1])
        torch.testing.assert_close(tokens[row, :n], alone[0])
        assert not tokens[row, n:].any()


def test_padding_further_changes_nothing():
    encoder, (words, n_words) = make_encoder(), make_words()
    sentence, tokens = encoder(words, n_words)
    padded = torch.cat([words, torch.full((3, 4, 4), 7.0)], dim=1)
    again, more = encoder(padded, n_words)
    torch.testing.assert_close(again, sentence)
    torch.testing.assert_close(more[:, :5], tokens)
    assert not more[:, 5:].any()


def test_padding_has_no_gradient():
    encoder, (words, n_words) = make_encoder(), make_words()
    words.requires_grad_()
    sentence, tokens = encoder(words, n_words)
    (sentence.sum() + tokens.square().sum()).backward()
    behind = torch.arange(5) >= n_words[:, None]
    assert not words.grad[behind].any()
    assert (words.grad[~behind].abs().sum(dim=-1) > 0).all()
