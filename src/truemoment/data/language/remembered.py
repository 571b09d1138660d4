"""A language engine that analyses each distinct sentence once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from truemoment.data.language.base import Engine, Token


@dataclass(frozen=True, eq=False)
class Remembered:
    """A language engine with its earlier results: sentences in several splits or studies are analysed once.

    It keeps the results of all its sentences, so drop it with the study. Equal tokens are stored once.

    Examples
    --------
    >>> from truemoment.data.language import get_engine
    >>> engine = Remembered(get_engine())
    >>> engine.analyse(["A door opens.", "A door opens."])[1][1]
    Token(text='door', lemma='door', tag='NOUN')
    >>> len(engine), engine.name == get_engine().name
    (1, True)
    """

    engine: Engine
    _readings: dict[str, tuple[Token, ...]] = field(default_factory=dict, repr=False, init=False)
    _tokens: dict[Token, Token] = field(default_factory=dict, repr=False, init=False)

    @property
    def name(self) -> str:
        """Name of the engine, which gives the same results."""
        return self.engine.name

    def __len__(self) -> int:
        return len(self._readings)

    def analyse(self, sentences: Sequence[str]) -> list[list[Token]]:
        """Read sentences, those that are new with the engine; lists are the caller's own."""
        new = [sentence for sentence in dict.fromkeys(sentences) if sentence not in self._readings]
        if new:
            for sentence, tokens in zip(new, self.engine.analyse(new), strict=True):
                self._readings[sentence] = tuple(self._tokens.setdefault(token, token) for token in tokens)
        return [list(self._readings[sentence]) for sentence in sentences]
