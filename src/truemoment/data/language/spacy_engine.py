"""Engine ``spacy``: spaCy's tagger, lemmatiser and parser, used only by name.

Hidden Challenges (Otani et al. 2020) found its verbs with spaCy's ``en_core_web_sm``. Results depend on the versions of
spaCy and of the model, which are therefore part of the engine's name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from truemoment.base.errors import MissingPackageError, UsageError
from truemoment.data.language.base import Tag, Token

DEFAULT_MODEL = "en_core_web_sm"
"""The model of Hidden Challenges' code."""

_TAGS: dict[str, Tag] = {"MD": "AUX", "NN": "NOUN", "NNS": "NOUN", "NNP": "NOUN", "NNPS": "NOUN"}


class HeadedToken(NamedTuple):
    """A token of a parsed sentence, and the position of the token that it depends on; its own for a root."""

    text: str
    head: int


@dataclass(frozen=True)
class SpacyEngine:
    """Sentences read by a spaCy pipeline.

    Parameters
    ----------
    pipe
        The pipeline's ``pipe``: texts in, documents out, in order.
    """

    name: str
    pipe: Callable[[Iterable[str]], Iterable[Any]]

    @classmethod
    def load(cls, model: str = DEFAULT_MODEL) -> SpacyEngine:
        """Load a model that is installed."""
        try:
            import spacy  # type: ignore[import-not-found, unused-ignore]  # noqa: PLC0415 - large, and optional
        except ModuleNotFoundError as error:
            raise MissingPackageError("spacy", "spacy", "the language engine 'spacy'") from error
        try:
            nlp = spacy.load(model, exclude=["ner"])
        except OSError as error:
            raise UsageError(
                f"spaCy's model {model!r} is not installed: python -m spacy download {model}, or engine 'lexicon'"
            ) from error
        missing = [part for part in ("tagger", "lemmatizer") if not nlp.has_pipe(part)]
        if missing:
            raise UsageError(f"spaCy's model {model!r} has no {' and no '.join(missing)}, expected both; try another")
        return cls(f"spacy {spacy.__version__}, {model} {nlp.meta.get('version', '')}".strip(), nlp.pipe)

    def analyse(self, sentences: Sequence[str]) -> list[list[Token]]:
        """Read sentences; tags are made coarse from spaCy's fine-grained Penn tags, as Hidden Challenges uses them."""
        return [
            [
                Token(token.text, token.lemma_.lower(), _coarse(token.tag_, token.pos_))
                for token in document
                if not token.is_space
            ]
            for document in self.pipe(sentences)
        ]

    def heads(self, sentences: Sequence[str]) -> list[list[HeadedToken]]:
        """Parse sentences; raises `UsageError` if the model has no parser."""
        parsed = []
        for document in self.pipe(sentences):
            if not document.has_annotation("DEP"):
                raise UsageError(f"{self.name} has no parser, expected a model with one; or text.heads=chain")
            tokens = [token for token in document if not token.is_space]
            number = {token.i: at for at, token in enumerate(tokens)}
            parsed.append([HeadedToken(token.text, number.get(token.head.i, number[token.i])) for token in tokens])
        return parsed


def _coarse(fine: str, universal: str) -> Tag:
    if fine[:2] == "VB":
        return "AUX" if universal == "AUX" else "VERB"
    return _TAGS.get(fine, "ADJ" if fine[:2] == "JJ" else "OTHER")
