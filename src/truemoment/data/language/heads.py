"""Heads of words: the word of a sentence that each word depends on.

==============  ====================================================================================================
chain           the default: the word before, the first word has none. No parser is used; it approximates one by joining
                each word with its neighbours
spacy           the parser of spaCy's model ``en_core_web_sm``; both have to be installed
spacy:MODEL     the parser of another model
==============  ====================================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence

from truemoment.base.errors import UsageError
from truemoment.data.language.spacy_engine import DEFAULT_MODEL, HeadedToken, SpacyEngine
from truemoment.data.language.tokens import How, places, spans

CHAIN = "chain"
"""Name of the source without a parser."""


def word_heads(sentences: Sequence[str], source: str = CHAIN, how: How = "words") -> list[tuple[int, ...]]:
    """Return the head of each word as a position among the tokens of ``tokenise(sentence, how)``; -1 for none.

    Parameters
    ----------
    sentences
        The sentences.
    source
        ``chain``, ``spacy`` or ``spacy:MODEL``.
    how
        How sentences become words. A word of several of the parser's tokens has the head of the first that depends on
        another word; a word whose head is no word of ours has none.

    Examples
    --------
    >>> word_heads(["She opens the door."])
    [(-1, 0, 1, 2)]
    """
    plain = [str(sentence) for sentence in sentences]
    if source == CHAIN:
        return [tuple(range(-1, len(spans(sentence, how)) - 1)) for sentence in plain]
    kind, _, model = source.partition(":")
    if kind != "spacy" or (not model and source != kind):
        raise UsageError(f"unknown source of heads {source!r}, expected one of chain, spacy, spacy:MODEL")
    parsed = SpacyEngine.load(model or DEFAULT_MODEL).heads(plain)
    return [_heads_of(sentence, tokens, how) for sentence, tokens in zip(plain, parsed, strict=True)]


def _heads_of(sentence: str, tokens: Sequence[HeadedToken], how: How) -> tuple[int, ...]:
    place = list(places(sentence, [token.text for token in tokens], how))
    heads = [-1] * len(spans(sentence, how))
    for token, own in zip(tokens, place, strict=True):
        head = place[token.head]
        if own is not None and own >= 0 and heads[own] < 0 and head is not None and head != own:
            heads[own] = head
    return tuple(heads)
