"""The default engine: a lexicon lists the roles of a word, and the words around it decide.

Sentences that describe videos are short and plain, so one pass from left to right is enough. A word has a *role*
(determiner, preposition, noun, verb...; :mod:`truemoment.data.language.words`) and leaves a *context* for the next.
Only words that may be verbs need a decision; :mod:`truemoment.data.language.rules` has the table of decisions.

>>> engine = LexiconEngine()
>>> def verbs(sentence):
...     return [token.lemma for token in engine.analyse([sentence])[0] if token.tag == "VERB"]
>>> verbs("A person cooks, the cook pours, and the two drink.")
['cook', 'pour', 'drink']
>>> verbs("He stands on the diving board, begins to run and takes the fallen cup.")
['stand', 'begin', 'run', 'take']

Word lists and rules were written with sentences of Charades-STA ``train`` and ActivityNet Captions ``train`` in view.
See ``tests/language/README.md`` for their accuracy on held-out sentences.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from types import MappingProxyType

from truemoment.data.language.base import Tag, Token
from truemoment.data.language.rules import COLOURS, PERSONS, RULES, UNCHANGED, WordContext
from truemoment.data.language.words import COMPOUNDS, NOUNS_IN_ING, Word, look_up

TOKEN = re.compile(r"n['’]t\b|['’](?:s|m|d|re|ve|ll)\b|\w+?(?=n['’]t\b)|\w+(?:-\w+)*|\S", re.IGNORECASE)
"""Words (with inner hyphens), contractions split as in *it* + *'s* and *does* + *n't*, single marks."""

AFTER = MappingProxyType(
    {
        "DETERMINER": "noun awaited",
        "SINGULAR": "singular",
        "PLURAL": "plural",
        "SOME": "plural",
        "PREPOSITION": "preposition",
        "NOUN": "noun",
        "SUBJECT": "pronoun",
        "OBJECT": "it",
        "TO": "infinitive",
        "MODAL": "infinitive",
        "DO": "infinitive",
        "BE": "be",
        "HAVE": "have",
        "VERB": "verb",
        "AND": "and",
        "WHEN": "start",
        "STOP": "start",
    }
)
"""The context that a word leaves, by its role; a word of another role leaves the one it found."""

TAGS: MappingProxyType[str, Tag] = MappingProxyType(
    {"VERB": "VERB", "NOUN": "NOUN", "ADJECTIVE": "ADJ", "BE": "AUX", "HAVE": "AUX", "DO": "AUX", "MODAL": "AUX"}
)
"""Tags of roles; OTHER for all others."""

_MAY_START_NOUNS = frozenset(("NOUN", "ADJECTIVE", "EITHER", "VERB", "SINGULAR", "PLURAL"))
_SETTLED = frozenset(
    ("NOUN", "ADJECTIVE", "PREPOSITION", "BE", "TO", "PLURAL", "SOME", "AND", "WHEN", "STOP", "SINGULAR")
)


def read(words: Sequence[Word]) -> list[Tag]:
    """Return the tag of each word of a sentence.

    Examples
    --------
    >>> read([look_up(word) for word in "She can open a can".split()])
    ['OTHER', 'AUX', 'VERB', 'OTHER', 'NOUN']
    """
    reading = WordContext(words)
    tags: list[Tag] = []
    for i, word in enumerate(words):
        reading.i = i
        role = word.role if word.role in _SETTLED else _settle(reading)
        tags.append(TAGS.get(role, "OTHER"))
        _advance(reading, role)
    return tags


def _settle(r: WordContext) -> str:
    """Return the role of a word that has several."""
    word, role = r.word, r.word.role
    if role in ("EITHER", "VERB"):
        return _verb_or_not(r)
    if role in ("HAVE", "DO"):
        return _auxiliary_or_verb(r)
    if role == "MODAL" and r.context in ("noun awaited", "singular", "plural", "preposition", "verb"):
        role = "NOUN"  # "takes a can"
    elif word.text == "her" and r.near(1).role not in _MAY_START_NOUNS:
        role = "OBJECT"
    elif word.text == "'s":
        role = "BE" if r.near(-1).role in ("SUBJECT", "OBJECT", "SINGULAR") else "DETERMINER"
    elif word.text == "which" and r.context == "preposition":
        role = "DETERMINER"  # "at which point"
    return role


def _auxiliary_or_verb(r: WordContext) -> str:
    """*Have* is an auxiliary before a past participle, *do* before *not*; adverbs may be in between."""
    steps = 1
    while r.near(steps).role == "OTHER":
        steps += 1
    follows = r.near(steps)
    if r.word.role == "DO":
        return "DO" if steps > 1 and follows.form == "base" else "VERB"
    return "HAVE" if follows.text == "been" or follows.form == "past" or follows.text in UNCHANGED else "VERB"


def _verb_or_not(r: WordContext) -> str:
    word, follows, context = r.word, r.near(1), r.context
    if word.text in COMPOUNDS.get(follows.text, ()) or word.text in COMPOUNDS.get(follows.noun, ()):
        return "NOUN"
    if word.role == "VERB" and word.form in ("base", "s"):
        return "VERB"
    if not word.form:
        return _adjective_or_noun(r) if word.adjective else "NOUN"
    if context == "noun":
        context = "subject" if r.waiting > 0 or r.near(-1).noun in PERSONS else "object"
    if word.text in NOUNS_IN_ING and context not in ("be", "verb"):
        return "VERB" if r.object_follows() else "NOUN"
    if RULES[context, word.form].verb_if(r):
        return "VERB"
    participle = word.form == "past" and word.role == "VERB"
    return _adjective_or_noun(r) if word.adjective or participle else "NOUN"


def _adjective_or_noun(r: WordContext) -> str:
    """*A man in red shoes walks*, but *a man in red walks*."""
    first, second = r.near(1), r.near(2)
    if first.role == "EITHER" and first.form == "s":
        alone = r.word.text in COLOURS and r.context in ("preposition", "verb") and r.waiting > 0
        return "NOUN" if alone and not r.s_ahead() else "ADJECTIVE"
    if first.role in ("NOUN", "ADJECTIVE") or (first.role == "EITHER" and first.form in ("base", "")):
        return "ADJECTIVE"
    return "ADJECTIVE" if first.form == "past" and second.role in ("NOUN", "EITHER") else "NOUN"


def _advance(r: WordContext, role: str) -> None:
    """Update the context for the next word."""
    word = r.word
    if role == "VERB":
        _note_verb(r)
    elif role in ("BE", "HAVE", "DO", "MODAL"):
        if word.text not in ("be", "been", "being", "having"):
            r.waiting -= 1
            r.any_finite = True
    elif role == "AND":
        if r.near(-1).role == r.near(1).role == "OTHER":
            return  # "up and down"
        if r.context != "and":
            r.before_and = r.context, r.waiting
        r.waiting = max(r.waiting, 1)
    elif role == "WHEN" or word.text in ("who", "which", "that"):
        r.waiting = min(r.waiting, 1) + 1 if r.i else 1
    elif role == "TO" and r.near(-1).role == "WHEN":
        r.waiting -= 1  # "how to" waits for nothing
    elif role == "SUBJECT" or (role == "OBJECT" and r.context in ("start", "and")):
        r.waiting = max(r.waiting, 1)
    elif word.text in ("all", "both", "each") and r.context in ("pronoun", "noun"):
        return  # "they all start"
    elif role == "STOP":
        r.waiting, r.any_finite = 1, False
    r.context = AFTER.get(role, r.context)


def _note_verb(r: WordContext) -> None:
    form = r.word.form
    passive = form == "past" and r.near(1).role == "PREPOSITION"  # "a man dressed in red" still waits
    if form == "ing" and r.context == "start":
        r.waiting -= 1  # "while holding" waits for nothing
    elif form == "ing" and r.context == "and":
        r.waiting = r.before_and[1]
    elif form != "ing" and r.context not in ("infinitive", "be", "have") and not passive:
        r.waiting -= 1
        r.any_finite = True
    r.last_verb, r.last_form = r.word.verb, form


class LexiconEngine:
    """The default engine: see :mod:`truemoment.data.language.lexicon`."""

    name = "lexicon"

    def analyse(self, sentences: Sequence[str]) -> list[list[Token]]:
        """Read sentences, one after another."""
        return [list(_tokens(sentence)) for sentence in sentences]


@functools.lru_cache(maxsize=1 << 14)  # several floors and checks ask about the sentences of a split
def _tokens(sentence: str) -> tuple[Token, ...]:
    texts = TOKEN.findall(sentence)
    words = [look_up(text) for text in texts]
    return tuple(
        Token(text, word.verb if tag in ("VERB", "AUX") else word.noun, tag)
        for text, word, tag in zip(texts, words, read(words), strict=True)
    )
