"""Rules for words that may be verbs: by the words before them, their form, and the words after them.

:data:`RULES` is the table; the methods of :class:`WordContext` are its conditions. To correct an error, change a rule
or add one, with an example of both sides: the tests try every example.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from truemoment.data.language.words import NOTHING, Word, word_set

FEELINGS = word_set("tired excited interested surprised bored scared worried pleased")
"""Past participles that are adjectives after *be*."""

PERSONS = word_set("man woman person boy girl lady guy kid child player teen adult male female people")
"""Nouns after which a verb is likelier than a second noun."""

COLOURS = word_set("white black blue red yellow green orange purple gray grey pink brown")
"""Words for clothes: *the man in red throws*."""

CAUSES = word_set("see watch make let help have")
"""Verbs that take an object and a base form: *watches him run*."""

COMPANIONS = word_set("go help come let")
"""Verbs that take a base form: *helps wash it*."""

PATHS = word_set("to into onto around through down up away back off")
"""Words that follow a verb rather than a noun."""

UNCHANGED = word_set("put cut hit set let shut read hurt spread split run come")
"""Verbs whose past participle is their base form."""

ENDS = frozenset(("AND", "WHEN", "STOP", "SUBJECT"))
"""Roles that end a clause."""

REACH = 30
"""How many words a question looks ahead at most."""


@dataclass(slots=True)
class WordContext:
    """A position in a sentence; the methods are the conditions of rules about the word there.

    Parameters
    ----------
    i
        Position of the word to decide about.
    context
        Context from the words before it, a key of :data:`RULES`; ``noun`` where that depends on `waiting`.
    waiting
        How many subjects wait for their verb.
    any_finite
        Whether the sentence has had a verb that goes with a subject.
    last_verb, last_form
        Lemma and form of the last verb.
    before_and
        `context` and `waiting` before the last *and* or comma.
    """

    words: Sequence[Word]
    i: int = 0
    context: str = "start"
    waiting: int = 1
    any_finite: bool = False
    last_verb: str = ""
    last_form: str = ""
    before_and: tuple[str, int] = ("start", 1)

    @property
    def word(self) -> Word:
        """The word to decide about."""
        return self.words[self.i]

    @property
    def rest(self) -> Sequence[Word]:
        """The words after it, as far as questions look."""
        return self.words[self.i + 1 : self.i + 1 + REACH]

    def near(self, steps: int) -> Word:
        """Return the word at this offset."""
        j = self.i + steps
        return self.words[j] if 0 <= j < len(self.words) else NOTHING

    def yes(self) -> bool:
        """Always."""
        return True

    def no(self) -> bool:
        """Never."""
        return False

    def object_follows(self) -> bool:
        """*Opens the*, *opens it*."""
        return self.near(1).role in ("DETERMINER", "OBJECT", "SINGULAR")

    def path_follows(self) -> bool:
        """*Walks to*, or an object."""
        return self.object_follows() or self.near(1).text in PATHS

    def after_a(self) -> bool:
        """*A closes the door*, a misspelling: no plural noun follows *a*."""
        return self.near(-1).text in ("a", "an") and self.object_follows()

    def no_noun_follows(self) -> bool:
        """No noun that the word could belong to, nor *of*."""
        word = self.near(1)
        if word.text == "of" or word.role in ("NOUN", "ADJECTIVE"):
            return False
        return word.role != "EITHER" or word.form not in ("base", "s")

    def no_verb_ahead(self) -> bool:
        """Nothing else in the clause can be the verb of the nouns before the word."""
        previous = self.word
        for word in self.rest:
            if word.role in ENDS or (word.role == "DETERMINER" and previous.role not in ("PREPOSITION", "TO")):
                return True  # another noun phrase would have a verb of its own
            if previous.role != "TO" and word.form != "ing":
                if word.role in ("BE", "HAVE", "DO", "MODAL") or (word.role == "VERB" and word.form == "base"):
                    return False
                singular = word.role == "VERB" or (previous.role == "NOUN" and previous.form != "s")
                if self.word.form == "base" and word.form == "s" and singular:  # *the paint brush falls*
                    return False
            previous = word
        return True

    def s_ahead(self) -> bool:
        """A word in -s later in the clause, after the next, can be the verb of the subject."""
        for before, word in pairwise(self.rest):
            if word.role in ENDS:
                return False
            if word.form == "s" and before.role in ("NOUN", "EITHER", "OTHER"):
                return True
        return False

    def ends_clause(self) -> bool:
        """*A person cooks*, not *the kitchen lights are on*."""
        return self.near(1).text != "of" and (self.object_follows() or self.no_verb_ahead())

    def agrees(self) -> bool:
        """*The men drink*; a base form after a singular noun needs more evidence."""
        noun = self.near(-1)
        if noun.form == "s" or noun.text != noun.noun or noun.noun in PERSONS:
            return self.ends_clause()
        if self.any_finite or any(word.form == "ing" for word in self.rest) or not self.no_verb_ahead():
            return False
        return self.object_follows() or self.near(1).role in ("PREPOSITION", "TO", "OTHER")

    def only_verb(self) -> bool:
        """A word that can be nothing else, or that ends the clause."""
        return self.word.role == "VERB" or self.ends_clause()

    def stands_alone(self) -> bool:
        """*The two drink*: *both* and *two* often occur without a noun, *some* and *all* rarely."""
        return self.path_follows() if self.near(-1).role == "SOME" else self.no_noun_follows()

    def not_repeated(self) -> bool:
        """Not as in *head to head*."""
        return self.object_follows() or self.word.text not in (self.near(-2).text, self.near(2).text)

    def joins_base(self) -> bool:
        """*They sit and drink*; alone after a noun a base form is rather a noun too."""
        if self.no_noun_follows():
            return self.path_follows() or self.before_and[0] in ("verb", "it", "preposition")
        return self.last_form == "base" and self.near(1).form == "s" and not self.word.adjective

    def joins(self) -> bool:
        """*He sits and drinks*; after a plural noun a word in -s is rather a noun too."""
        plural = self.before_and[0] == "noun" and self.near(-2).form == "s"
        return self.object_follows() or (self.near(1).text != "of" and not plural)

    def after_cause(self) -> bool:
        """*Watches him run*; and *both of them run*."""
        return self.last_verb in CAUSES or (self.waiting > 0 and self.near(-2).text == "of")

    def after_companion(self) -> bool:
        """*Helps wash it*."""
        return self.last_verb in COMPANIONS and self.near(1).role != "TO" and self.near(-1).role != "ADJECTIVE"

    def reaches_state(self) -> bool:
        """*Gets dressed*, not *turns left* and *holds folded towels*."""
        return self.word.text != "left" and self.no_noun_follows()

    def past_as_base(self) -> bool:
        """*It is cut*."""
        return self.word.text in UNCHANGED or self.object_follows()

    def no_feeling(self) -> bool:
        """*It is closed*, not *he is tired*."""
        return self.word.text not in FEELINGS


class Rule(NamedTuple):
    """Condition under which a word is a verb. In the examples stars enclose the word; only the first is a verb."""

    verb_if: Callable[[WordContext], bool]
    verb: str
    other: str


R = WordContext
RULES = MappingProxyType(
    {
        # After a determiner or an adjective a noun is awaited.
        ("noun awaited", "base"): Rule(R.no, "", "the *cook* pours"),
        ("noun awaited", "s"): Rule(R.after_a, "person a *closes* the door", "he washes his *hands*"),
        ("noun awaited", "ing"): Rule(R.object_follows, "her *brushing* her teeth", "the *running* man"),
        ("noun awaited", "past"): Rule(R.no, "", "a *closed* door"),
        # Words that occur before a noun or alone: one, another; two, both, some.
        ("singular", "base"): Rule(R.no, "", "he takes another *drink*"),
        ("singular", "s"): Rule(R.yes, "another *throws* a ball", ""),
        ("singular", "ing"): Rule(R.yes, "another *eating* cereal", ""),
        ("singular", "past"): Rule(R.no_noun_follows, "one *dressed* in red", "one *folded* towel"),
        ("plural", "base"): Rule(R.stands_alone, "the two *drink*", "some *paper* is there"),
        ("plural", "s"): Rule(R.no, "", "two *drinks*"),
        ("plural", "ing"): Rule(R.no_noun_follows, "two *sitting* down", "two *moving* cars"),
        ("plural", "past"): Rule(R.no_noun_follows, "two *dressed* in red", "two *folded* towels"),
        # After a preposition.
        ("preposition", "base"): Rule(R.no, "", "a glass of *milk*"),
        ("preposition", "s"): Rule(R.object_follows, "a man standing around *cheers* them on", "a box with *shoes*"),
        ("preposition", "ing"): Rule(R.yes, "he begins by *putting* it down", ""),
        ("preposition", "past"): Rule(R.no, "", "a man with *folded* arms"),
        # After a noun that waits for its verb.
        ("subject", "base"): Rule(R.agrees, "the men *drink*", "the paint *brush* is red"),
        ("subject", "s"): Rule(R.ends_clause, "a person *cooks* food", "the kitchen *lights* are on"),
        ("subject", "ing"): Rule(R.yes, "a man *sitting* on a bed", ""),
        ("subject", "past"): Rule(R.only_verb, "a man *dressed* in red", "the goal *shot* is blocked"),
        # After a noun, where the verb was before.
        ("object", "base"): Rule(R.no, "", "he opens the kitchen *sink*"),
        ("object", "s"): Rule(R.object_follows, "he opens the box *takes* a cup", "she opens the kitchen *boxes*"),
        ("object", "ing"): Rule(R.yes, "we see a dog *eating*", ""),
        ("object", "past"): Rule(R.yes, "we see a car *covered* in snow", ""),
        # After a pronoun.
        ("pronoun", "base"): Rule(R.yes, "they *walk* away", ""),
        ("pronoun", "s"): Rule(R.yes, "she *walks* away", ""),
        ("pronoun", "ing"): Rule(R.yes, "person he *running* away", ""),
        ("pronoun", "past"): Rule(R.yes, "he *turned* away", ""),
        ("it", "base"): Rule(R.after_cause, "she watches him *run*", "he wipes it *dry*"),
        ("it", "s"): Rule(R.yes, "it *falls*", ""),
        ("it", "ing"): Rule(R.yes, "they see it *moving*", ""),
        ("it", "past"): Rule(R.yes, "she has it *fixed*", ""),
        # After auxiliaries and "to".
        ("be", "base"): Rule(R.past_as_base, "it is *cut* up", "the door is *open*"),
        ("be", "s"): Rule(R.no, "", "there are *drinks*"),
        ("be", "ing"): Rule(R.yes, "he is *cooking*", ""),
        ("be", "past"): Rule(R.no_feeling, "the door is *closed*", "he is *tired*"),
        ("have", "base"): Rule(R.past_as_base, "he has *cut* it", ""),
        ("have", "past"): Rule(R.yes, "he has *finished*", ""),
        ("infinitive", "base"): Rule(R.not_repeated, "he begins to *drink*", "they stand head to *head*"),
        ("infinitive", "s"): Rule(R.no, "", "it is next to *boxes*"),
        ("infinitive", "ing"): Rule(R.no_noun_follows, "he begins to *eating*", "they go to *changing* cabins"),
        ("infinitive", "past"): Rule(R.no, "", "he walks to *fallen* trees"),
        # After a verb.
        ("verb", "base"): Rule(R.after_companion, "they help *wash* it", "he drinks *milk*"),
        ("verb", "s"): Rule(R.object_follows, "she gets up *closes* the door", "she takes *notes*"),
        ("verb", "ing"): Rule(R.yes, "he starts *laughing*", ""),
        ("verb", "past"): Rule(R.reaches_state, "she gets *dressed*", "he holds *folded* towels"),
        # After "and" and the comma.
        ("and", "base"): Rule(R.joins_base, "they sit down and *drink*", "he takes food and *drink*"),
        ("and", "s"): Rule(R.joins, "he sits and *drinks*", "he washes plates and *cups*"),
        ("and", "ing"): Rule(R.yes, "he is eating and *laughing*", ""),
        ("and", "past"): Rule(R.no_noun_follows, "it is washed and *dried*", "he adds milk and *chopped* onions"),
        # At the start of a sentence, and after "while".
        ("start", "base"): Rule(R.object_follows, "*open* the door", "*light* is turned on"),
        ("start", "s"): Rule(R.path_follows, "*shows* the man", "*lights* are on"),
        ("start", "ing"): Rule(R.yes, "*sitting* in a chair", ""),
        ("start", "past"): Rule(R.no_noun_follows, "*dressed* in red", "*used* cars"),
    }
)
"""Rules that decide whether a word that may be a verb is one, by context and form."""
