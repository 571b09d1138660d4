"""Tokens, parts of speech, lemmas, verbs and phrases of sentences, and vectors of words.

Sentences are read by an engine; all engines have one small interface:

===============  ===================================================================================================
lexicon          the default: a lexicon of English (lemminflect) and rules of context; needs no download
spacy            spaCy with its model ``en_core_web_sm``, which Hidden Challenges used; both have to be installed
spacy:MODEL      spaCy with another model
===============  ===================================================================================================

>>> engine = get_engine()
>>> [(token.text, token.tag) for token in engine.analyse(["Person takes notes."])[0]]
[('Person', 'NOUN'), ('takes', 'VERB'), ('notes', 'NOUN'), ('.', 'OTHER')]
"""

from __future__ import annotations

from truemoment.base.errors import UsageError
from truemoment.data.language.base import Engine, Tag, Token
from truemoment.data.language.lexicon import LexiconEngine
from truemoment.data.language.phrases import PhraseTree, phrase_trees
from truemoment.data.language.remembered import Remembered
from truemoment.data.language.spacy_engine import DEFAULT_MODEL, SpacyEngine
from truemoment.data.language.tokens import tokenise
from truemoment.data.language.vectors import WordVectors, read_glove
from truemoment.data.language.verbs import STOP_FORMS, coverage, first_verb, verb_counts, verbs_of

__all__ = [
    "STOP_FORMS",
    "Engine",
    "LexiconEngine",
    "PhraseTree",
    "Remembered",
    "SpacyEngine",
    "Tag",
    "Token",
    "WordVectors",
    "coverage",
    "first_verb",
    "get_engine",
    "phrase_trees",
    "read_glove",
    "tokenise",
    "verb_counts",
    "verbs_of",
]


def get_engine(name: str = "lexicon") -> Engine:
    """Return an engine by name: ``lexicon``, ``spacy`` or ``spacy:MODEL``."""
    kind, _, model = name.partition(":")
    if name == "lexicon":
        return LexiconEngine()
    if kind == "spacy" and (model or name == "spacy"):
        return SpacyEngine.load(model or DEFAULT_MODEL)
    raise UsageError(f"unknown language engine {name!r}, expected one of lexicon, spacy, spacy:MODEL")
