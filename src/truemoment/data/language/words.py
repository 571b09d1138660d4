"""Properties of an English word without its sentence: closed classes by list, all others by lexicon.

The lexicon is that of lemminflect (Jascob 2022), made from the NIH's SPECIALIST lexicon: parts of speech and lemmas of
70,000 words, without frequencies. The short lists here correct it for sentences that describe videos.
"""

from __future__ import annotations

import functools
from types import MappingProxyType
from typing import Literal, NamedTuple

Form = Literal["base", "s", "ing", "past", ""]
"""Form of a verb by its spelling: *open*, *opens*, *opening*, *opened*; "" for words that are not verbs."""


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


CLOSED = MappingProxyType(
    {
        "BE": word_set("is are was were am be been being 're 'm isnt"),
        "HAVE": word_set("has have had having 've"),
        "DO": word_set("do does did doing done"),
        "MODAL": word_set("can will would could should must may might shall cannot 'll 'd ca wo"),
        "TO": word_set("to"),
        "DETERMINER": word_set("a an the this these those his her their its my your our every no whose aa thier teh"),
        "SINGULAR": word_set("one another each someone somebody everyone everybody nobody anyone either"),
        "PLURAL": word_set("two three four five six seven eight nine ten both others several many few"),
        "SOME": word_set("some all most more any"),
        "SUBJECT": word_set("i you he she they we who which that"),
        "OBJECT": word_set("it there him them me us himself herself itself themselves themself myself yourself"),
        "PREPOSITION": word_set(
            "in on at of from with into onto by for through across against between among during towards toward under "
            "underneath beneath below behind beside besides above near within without upon about like than past via "
            "inside outside along alongside around over off atop throughout unto instead per next front"
        ),
        "WHEN": word_set(
            "while as when before after until because where how if since though although whether what why"
        ),
        "AND": word_set("and or but nor then & , ; ( ) - / ans nd"),
        "STOP": word_set(". ! ? :"),
        "OTHER": word_set(
            "not n't never always also just again now still even only once twice very too so well up down out away "
            "back together forward aside apart home here ever yet far right quickly slowly"
        ),
    }
)
"""Words that are read by their role alone, by role."""

NEVER_VERBS = word_set("man mans people baby water ground clothes dishes kid kids guy guys second third last")
"""Words that the lexicon allows as verbs and that are something else here."""

NOUNS_TOO = word_set(
    "bar bars pan pans log logs tin tins ref refs act acts lug lugs scissor crunches tops dismount dismounts"
)
"""Words that the lexicon knows as verbs alone."""

NO_ADJECTIVES = word_set(
    "video game uniform individual routine side head dress closet attendant graphic piano counter plane human number "
    "net teen male female adult professional corner top cream left"
)
"""Words that the lexicon allows as adjectives and that are nouns here."""

NOUNS_IN_ING = word_set("building clothing railing evening wedding painting frosting icing")
"""Words in -ing that are nouns unless an object follows."""

COMPOUNDS = MappingProxyType(
    {
        "room": word_set("living dining changing dressing waiting"),
        "table": word_set("dining dinning ironing"),
        "machine": word_set("washing rowing sewing polishing exercising"),
        "board": word_set("diving cutting chopping ironing"),
        "lot": word_set("parking"),
        "pool": word_set("swimming"),
        "alley": word_set("bowling"),
        "ball": word_set("bowling"),
        "match": word_set("wrestling fencing boxing bowling curling"),
        "ring": word_set("boxing wrestling"),
        "glove": word_set("boxing"),
        "bag": word_set("punching sleeping"),
        "pan": word_set("frying"),
        "paper": word_set("wrapping"),
        "cream": word_set("shaving"),
        "soda": word_set("baking"),
        "band": word_set("marching"),
        "pole": word_set("fishing"),
        "line": word_set("fishing starting"),
        "supply": word_set("cleaning wrapping"),
        "tool": word_set("gardening cleaning"),
        "iron": word_set("curling"),
        "title": word_set("opening closing ending"),
        "screen": word_set("opening closing ending"),
        "credit": word_set("opening closing ending"),
        "up": word_set("close"),
        "ups": word_set("close push pull sit"),
        "put": word_set("shot"),
    }
)
"""Words that may be verbs and are none before the noun they are filed under, singular or plural."""

LEMMAS = MappingProxyType({"lay": "lay", "gel": "gel"})
"""Lemmas that differ from the lexicon's first (*lie*, *jell*)."""


class Word(NamedTuple):
    """Properties of a word without its sentence.

    Parameters
    ----------
    role
        A key of :data:`CLOSED`, or NOUN, ADJECTIVE, OTHER, VERB (nothing but a verb) or EITHER (several of these).
    form
        For verbs, and for plural nouns ``s``.
    text
        The word in lower case.
    verb, noun
        Its lemma as a verb, and as anything else.
    adjective
        Whether it may be an adjective.
    """

    role: str
    form: Form
    text: str
    verb: str
    noun: str
    adjective: bool = False


NOTHING = Word("STOP", "", "", "", "")
"""Symbols before the first word and after the last."""


@functools.lru_cache(maxsize=2**17)
def look_up(text: str) -> Word:
    """Return the properties of a word.

    Examples
    --------
    >>> look_up("Opened")
    Word(role='VERB', form='past', text='opened', verb='open', noun='opened', adjective=False)
    >>> look_up("glasses").role, look_up("skurfing").verb, look_up("wearinf").verb
    ('EITHER', 'skurf', 'wear')
    """
    word = text.lower().replace("’", "'")
    role = next((role for role, words in CLOSED.items() if word in words), "")
    if role in ("HAVE", "DO"):
        form: Form = "ing" if word.endswith("ing") else "past" if word in ("had", "did", "done") else "base"
        return Word(role, form, word, role.lower(), role.lower())
    if role:
        lemma = "be" if role == "BE" else word
        return Word(role, "", word, lemma, lemma)
    if not word.isalpha():
        word = word.rpartition("-")[2] or word
        if not word.isalpha():
            return Word("OTHER", "", word, word, word)
    entry = _in_lexicon(word) or _by_ending(word)
    if entry is None and text.islower():
        entry = _misspelt(word)
    return entry or Word("NOUN", "", word, word, word)


def _in_lexicon(word: str) -> Word | None:
    import lemminflect  # noqa: PLC0415 - loads the lexicon

    lemmas = lemminflect.getAllLemmas(word)
    if not lemmas:
        return None
    noun = lemmas.get("NOUN", lemmas.get("ADJ", (word,)))[0]
    adjective = "ADJ" in lemmas and word not in NO_ADJECTIVES
    if "VERB" in lemmas and word not in NEVER_VERBS:
        verb = LEMMAS.get(word, lemmas["VERB"][0])
        form: Form = "ing" if word.endswith("ing") else "s" if word.endswith("s") else "past"
        role = "EITHER" if lemmas.keys() & {"NOUN", "ADJ"} or word in NOUNS_TOO else "VERB"
        return Word(role, "base" if word == verb else form, word, verb, noun, adjective)
    if lemmas.keys() >= {"NOUN", "ADJ"}:
        return Word("EITHER", "", word, word, noun, adjective)
    role = "ADJECTIVE" if "ADJ" in lemmas else "NOUN" if "NOUN" in lemmas else "OTHER"
    plural = role == "NOUN" and (noun != word or word == "people")
    return Word(role, "s" if plural else "", word, noun, noun)


_ENDINGS: tuple[tuple[str, Form], ...] = (("ing", "ing"), ("in", "ing"), ("ed", "past"), ("s", "s"), ("es", "s"))


def _by_ending(word: str) -> Word | None:
    """Analyse a word that is not in the lexicon as a form of one that is, or as any form: *texting*, *tidys*."""
    for ending, form in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem == word or len(stem) < 3:
            continue
        entry = _in_lexicon(stem) or _in_lexicon(stem + "e")
        if entry and entry.role in ("VERB", "EITHER") and entry.form == "base":
            return Word(entry.role, form, word, entry.verb, word)
        if ending == "ing":
            return Word("EITHER", form, word, stem, word)
    return None


FREQUENT = word_set(
    "open put eat take close sit hold turn throw run drink start begin walk look sneeze laugh pour smile stand cook "
    "watch awaken wash dress undress play read fix snuggle tidy work talk lie lay leave grab enter continue speak show "
    "jump ride wear move perform dance pull push cut throw kick hit spin climb swing wipe brush clean wrestle"
)
"""Verbs that a misspelt word is compared with: frequent ones of the train splits used to write the rules."""


@functools.cache
def _frequent_forms() -> frozenset[str]:
    """All regular-looking spellings of the frequent verbs that the lexicon confirms."""
    stems = {stem for verb in FREQUENT for stem in (verb, verb.removesuffix("e"), verb + verb[-1])}
    spellings = {stem + ending for stem in stems for ending in ("", "s", "es", "ing", "ed")} | FREQUENT
    entries = {spelling: _in_lexicon(spelling) for spelling in spellings}
    return frozenset(spelling for spelling, word in entries.items() if word and word.verb in FREQUENT)


def _misspelt(word: str) -> Word | None:
    """Read an unknown word of 5 to 20 letters as a frequent verb that differs by one letter, if there is one."""
    if not 5 <= len(word) <= 20:
        return None
    letters = "abcdefghijklmnopqrstuvwxyz"
    cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    near = {a + b[1:] for a, b in cuts if b} | {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    near |= {a + letter + rest for a, b in cuts for letter in letters for rest in (b, b[1:])}
    forms = sorted(near & _frequent_forms(), key=lambda form: (form[-1] != word[-1], form))
    meant = _in_lexicon(forms[0]) if forms else None
    return meant and Word("EITHER", meant.form, word, meant.verb, word)
