"""Marks of sentences that need more than the thing they name: time order, negation, a count, an earlier sentence.

==================  =================================================================================================
``temporal order``  orders events or names a phase of one: *before*, *then*, *until*, *again*, *starts to*
``negation``        *not*, *never*, *without*, *no*, *fails to*
``counting``        a number of things or times: *two*, *several*, *twice*, *for the second time*
``anaphora``        a pronoun, *another*, *the other* or *the same* whose antecedent is not in the sentence
==================  =================================================================================================

The rules prefer missing a sentence to marking a wrong one: `docs/audit-floors.md` has their precision.
*As*, *during*, *now* and *still* do not order events, and *one* and an amount with a unit (*30 degrees*) do not count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from truemoment.base.intervals import Bools
from truemoment.data.language.base import Engine, Token
from truemoment.data.language.rules import PERSONS
from truemoment.data.language.words import word_set

ORDER = word_set(
    "before after afterward afterwards then while until till again finally lastly later eventually meanwhile "
    "subsequently previously simultaneously initially when"
)
"""Words that always order events."""

PHASES = word_set("begin start continue finish stop end resume")
"""Verbs of the phase of an event."""

ORDINALS = word_set("first second third fourth fifth last next final")
OCCASIONS = word_set("time times attempt try round turn step part scene shot clip")
"""Nouns with which an ordinal orders in time; *the first man* does not."""

NEGATIONS = word_set(
    "not n't nt never without no none nothing nobody nowhere neither nor cannot cant dont doesnt didnt isnt unable "
    "unsuccessful unsuccessfully"
)

NUMBERS = word_set(
    "two three four five six seven eight nine ten eleven twelve thirteen fifteen twenty thirty forty fifty hundred "
    "dozen dozens both several many few multiple numerous twice thrice"
)
UNITS = word_set(
    "second seconds minute minutes hour hours am pm lb lbs pound pounds kg degree degrees percent meter meters metre "
    "metres foot feet inch inches mile miles moments days weeks months year years cup cups dollar dollars "
    "tablespoons teaspoons quarters thirds d k % °"
)
"""Units, after which a number measures and does not count."""

PEOPLE = PERSONS | word_set("persons men women boys girls ladies guys kids children players teens adults males females")
SEVERAL = PEOPLE - PERSONS | word_set("people crowd group couple team friends audience family class")
"""Nouns of several persons, to which *them* may refer."""

PRONOUNS = word_set("he she him her his hers they their theirs himself herself themselves")
"""Pronouns that refer to a person before them; *they* and *their* also to things."""

OF_THINGS = word_set("it them")
"""Pronouns that do not refer to the single person who is the subject."""

PERSON_WORDS = word_set("someone somebody anyone everyone everybody one another other others each who two three four")
"""Words other than nouns to which a pronoun may refer."""

BE = word_set("is are was were be been being")
ARTICLES = word_set("a an the")
PREPOSITIONS = word_set("in on at after before during into from near inside outside behind under over across by to")
DETERMINERS = word_set("a an the his her their its this that some")


def temporal_order(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield the words that order events.

    Examples
    --------
    >>> from truemoment.data.language import get_engine
    >>> read = get_engine().analyse
    >>> [list(temporal_order(t)) for t in read(["She then starts to sing.", "He sits next to the first man."])]
    [['then', 'starts'], []]
    >>> [list(temporal_order(t)) for t in read(["First she jumps.", "For the last time.", "In the end he wins."])]
    [['first'], ['last'], ['end']]
    """
    for i, token in enumerate(tokens):
        word, before, after = _around(tokens, i)
        leads = i == 0 and (after == "," or after in PRONOUNS or after in DETERMINERS)
        ordinal = word in ORDINALS and (after in OCCASIONS or leads or (word == "next" and i == 0 and after != "to"))
        once = word == "once" and (i == 0 or after == "more")
        in_the_end = word == "end" and (_word(tokens, i - 2), before) == ("in", "the")
        phase = token.lemma in PHASES and token.tag == "VERB" and before not in BE
        if word in ORDER or ordinal or once or in_the_end or phase:
            yield word


def negation(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield the words that negate.

    Examples
    --------
    >>> from truemoment.data.language import get_engine
    >>> read = get_engine().analyse
    >>> [list(negation(t)) for t in read(["She doesn't look.", "He fails to jump.", "She not only sings but dances."])]
    [["n't"], ['fails'], []]
    """
    for i, token in enumerate(tokens):
        word, before, after = _around(tokens, i)
        word = word.replace("’", "'")
        other_use = word == "not" and (after == "only" or before == "what")
        if (word in NEGATIONS and not other_use) or (token.lemma == "fail" and after == "to"):
            yield word


def counting(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield the words that count things or times.

    Examples
    --------
    >>> from truemoment.data.language import get_engine
    >>> read = get_engine().analyse
    >>> [list(counting(t)) for t in read(["2 men jump twice.", "He turns 90 degrees.", "A couple of girls run."])]
    [['2', 'twice'], [], ['couple']]
    >>> [list(counting(t)) for t in read(["She tries for the second time.", "Several cars pass.", "One man sits."])]
    [['second'], ['several'], []]
    """
    for i in range(len(tokens)):
        word, before, after = _around(tokens, i)
        measures = after in UNITS or after in (":", "/") or (after == "-" and _word(tokens, i + 2) in UNITS)
        digits = re.fullmatch(r"\d{1,3}", word) is not None and before not in (":", "-", "/", "#")
        couple = word == "couple" and after in ("of", "times")
        turn = word in ("first", "second", "third", "fourth", "fifth") and after in ("time", "attempt", "try", "round")
        once = word == "once" and i > 0 and after in (".", "", "and", "then", ",")
        if ((word in NUMBERS or digits) and not measures) or couple or turn or once:
            yield word


def anaphora(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield the words whose antecedent is not in the sentence before them.

    A noun right after a preposition is no antecedent of *he*: *in the kitchen he sits*. The person who is the subject
    is none of *it*.

    Examples
    --------
    >>> from truemoment.data.language import get_engine
    >>> read = get_engine().analyse
    >>> [list(anaphora(t)) for t in read(["He then puts it down.", "A man takes off his hat.", "The man opens it."])]
    [['he', 'it'], [], ['it']]
    >>> [list(anaphora(t)) for t in read(["Another man runs.", "They run.", "At the same time a dog barks."])]
    [['another'], ['they'], []]
    >>> [list(anaphora(t)) for t in read(["On their last day, a couple swims.", "While he cooks, he sings."])]
    [[], ['he', 'he']]
    """
    first = _before_its_noun(tokens)
    nouns: list[str] = []  # possible antecedents so far
    of_people = False  # whether one of them may be a person
    for i, token in enumerate(tokens):
        if i < first:
            continue
        word, before, after = _around(tokens, i)
        if word in PRONOUNS:
            if not of_people:
                yield word
        elif word in OF_THINGS:
            expletive = word == "it" and not nouns and after in ("is", "'s", "was") and i == 0
            things = [noun for noun in nouns if noun not in PERSONS or (word == "them" and noun in SEVERAL)]
            if not things and not expletive:
                yield word
        elif not nouns and (
            word == "its"
            or (word == "another" and before != "one")
            or (word in ("other", "others") and before == "the")
            or (word == "same" and before == "the" and after != "time")
        ):
            yield word
        if token.tag == "NOUN" or word in PERSON_WORDS:
            nouns.append(word)
            at = i - 1
            while at >= 0 and (_word(tokens, at) in DETERMINERS or tokens[at].tag in ("ADJ", "NOUN")):
                at -= 1
            of_people |= word in PEOPLE or word in SEVERAL or _word(tokens, at) not in PREPOSITIONS


MARKS: Mapping[str, Callable[[Sequence[Token]], Iterator[str]]] = MappingProxyType(
    {"temporal order": temporal_order, "negation": negation, "counting": counting, "anaphora": anaphora}
)
"""The rule of each mark: it yields the words of a sentence that carry the mark."""


def marks_of(sentences: Sequence[str], engine: Engine) -> dict[str, Bools]:
    """Return which sentences have each mark, (Q,).

    Examples
    --------
    >>> from truemoment.data.language import get_engine
    >>> marks = marks_of(["She never sits.", "Two men run, then stop."], get_engine())
    >>> {mark: sentences.tolist() for mark, sentences in marks.items()}
    {'temporal order': [False, True], 'negation': [True, False], 'counting': [False, True], 'anaphora': [True, False]}
    """
    read = engine.analyse([str(sentence) for sentence in sentences])
    return {mark: np.array([any(rule(sentence)) for sentence in read], dtype=bool) for mark, rule in MARKS.items()}


def _around(tokens: Sequence[Token], i: int) -> tuple[str, str, str]:
    """Return a word, the word before it and the word after it."""
    return _word(tokens, i), _word(tokens, i - 1), _word(tokens, i + 1)


def _word(tokens: Sequence[Token], i: int) -> str:
    return tokens[i].text.lower() if 0 <= i < len(tokens) else ""


def _before_its_noun(tokens: Sequence[Token]) -> int:
    """Return the length of a first clause whose pronouns refer to the noun after it: *on their last day, a couple*."""
    words = [token.text.lower() for token in tokens]
    if words and (words[0] in PREPOSITIONS or words[0] in ORDER) and "," in words:
        comma = words.index(",")
        if comma + 1 < len(words) and (words[comma + 1] in ARTICLES or tokens[comma + 1].tag == "NOUN"):
            return comma
    return 0
