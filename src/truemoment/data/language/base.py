"""The interface of language engines: sentences in, tokens with a lemma and a coarse part of speech out.

An engine has a name, see :func:`truemoment.data.language.get_engine`. Verbs and their counts are computed from tokens
in :mod:`truemoment.data.language.verbs`, for every engine in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol, runtime_checkable

Tag = Literal["VERB", "AUX", "NOUN", "ADJ", "OTHER"]
"""Coarse part of speech. AUX: every form of *be*, modals, and *have* and *do* before another verb. OTHER: the rest."""


class Token(NamedTuple):
    """A word or a punctuation mark of a sentence.

    Parameters
    ----------
    lemma
        Base form, in lower case.
    tag
        Part of speech: ``VERB``, ``AUX``, ``NOUN``, ``ADJ`` or ``OTHER``.
    """

    text: str
    lemma: str
    tag: Tag


@runtime_checkable
class Engine(Protocol):
    """The interface of an engine, which reads sentences.

    Examples
    --------
    >>> class AllNouns:
    ...     name = "all nouns"
    ...     def analyse(self, sentences):
    ...         return [[Token(word, word.lower(), "NOUN") for word in sentence.split()] for sentence in sentences]
    >>> isinstance(AllNouns(), Engine)
    True
    """

    @property
    def name(self) -> str:
        """Name of the engine in reports."""
        ...

    def analyse(self, sentences: Sequence[str]) -> list[list[Token]]:
        """Read sentences.

        Returns
        -------
        list of lists of Token
            One list per sentence; texts in order, all of the sentence except blanks.
        """
        ...
