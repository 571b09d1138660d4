"""Phrase trees: the verbs of a sentence, and the nouns that belong to each.

MDD reads a sentence as a tree of three levels: the sentence, its verbs, and below each verb its nouns. Its authors took
a parser of semantic roles; here any language engine is enough, because only parts of speech are used.

**The rule, without a parser**:

- The verbs are the tokens tagged VERB, all of them (*put* and *take* count, auxiliaries and the word *person* do not).
- Nouns after a verb, up to the next one, are its objects.
- But if a noun is between the next verb and the last boundary before that (a comma, *and*, *while*, *then*...),
  the nouns since that boundary are the next verb's subjects: *opens the door and the dog | runs*.
- Nouns before the first verb are its subjects.
- A verb without subjects of its own shares those of the verb before: *a person opens the door and leaves*.

So a noun may belong to several verbs, and a verb may have none. It approximates a parser, and is wrong where
sentences are more complex than most video descriptions.

References
----------
Lan et al. (2023), "A Closer Look at Debiased Temporal Sentence Grounding in Videos: Dataset, Metric, and Approach",
section 4.3.1 and Fig. 9 (the tree). Hidden Challenges counts verbs otherwise, see
:mod:`truemoment.data.language.verbs`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from truemoment.data.language.base import Engine, Tag, Token
from truemoment.data.language.tokens import How, places
from truemoment.data.language.words import word_set

BOUNDARIES = word_set("and or but while as when then before after because so until since where , ; : . ! ?")
"""Tokens after which a new clause may begin."""


@dataclass(frozen=True)
class PhraseTree:
    """The verbs of a sentence and the nouns of each, as positions among its tokens.

    Parameters
    ----------
    verbs
        Positions of V verbs, rising.
    nouns
        For each verb the positions of its nouns, rising; maybe none.
    """

    verbs: tuple[int, ...]
    nouns: tuple[tuple[int, ...], ...]
    engine: str = ""


def phrase_trees(sentences: Sequence[str], engine: Engine, how: How = "words") -> list[PhraseTree]:
    """Return the phrase tree of each sentence; positions are among the tokens of ``tokenise(sentence, how)``.

    Examples
    --------
    >>> from truemoment.data.language import get_engine, tokenise
    >>> sentence = "A person opens the door, and the dog runs to the window."
    >>> tokens = tokenise(sentence)
    >>> (tree,) = phrase_trees([sentence], get_engine())
    >>> [(tokens[verb], [tokens[noun] for noun in nouns]) for verb, nouns in zip(tree.verbs, tree.nouns)]
    [('opens', ['person', 'door']), ('runs', ['dog', 'window'])]
    """
    plain = [str(sentence) for sentence in sentences]
    return [
        _tree(tuple(_placed(sentence, tokens, how)), engine.name)
        for sentence, tokens in zip(plain, engine.analyse(plain), strict=True)
    ]


@dataclass(frozen=True)
class _Placed:
    """A token of the engine, and the index of our token that contains it; -1 for none."""

    tag: Tag
    boundary: bool
    position: int


def _placed(sentence: str, tokens: Sequence[Token], how: How) -> Iterator[_Placed]:
    """Find each of the engine's tokens in the sentence, and ours at that place."""
    for token, number in zip(tokens, places(sentence, [token.text for token in tokens], how), strict=True):
        if number is None:
            continue
        plain = token.text.lower()
        yield _Placed("OTHER" if plain == "person" and token.tag == "VERB" else token.tag, plain in BOUNDARIES, number)


def _tree(tokens: Sequence[_Placed], engine: str) -> PhraseTree:
    at_verb = [k for k, token in enumerate(tokens) if token.tag == "VERB" and token.position >= 0]
    subjects: list[int] = []
    objects: list[list[int]] = []
    under: list[list[int]] = []
    begin = 0
    for k in at_verb:
        between = range(begin, k)
        boundary = max((j for j in between if tokens[j].boundary), default=k) if objects else begin - 1
        own = _nouns(tokens, range(boundary + 1, k))
        if objects:
            objects[-1] += _nouns(tokens, range(begin, boundary if own else k))
        subjects = own or subjects
        under.append(subjects)
        objects.append([])
        begin = k + 1
    if objects:
        objects[-1] += _nouns(tokens, range(begin, len(tokens)))
    nouns_of: dict[int, set[int]] = {}
    for k, ours, theirs in zip(at_verb, under, objects, strict=True):
        nouns_of.setdefault(tokens[k].position, set()).update(ours, theirs)
    nouns = tuple(tuple(sorted(nouns - {verb})) for verb, nouns in sorted(nouns_of.items()))
    return PhraseTree(tuple(sorted(nouns_of)), nouns, engine)


def _nouns(tokens: Sequence[_Placed], positions: range) -> list[int]:
    return [tokens[j].position for j in positions if tokens[j].tag == "NOUN" and tokens[j].position >= 0]
