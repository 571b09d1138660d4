"""Sentences: words, forms, and that the first verb names the action."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.worlds.grammar import (
    ACTIONS,
    ADVERBS,
    CIRCUMSTANCES,
    FREQUENCY,
    N_CHOICES,
    OBJECTS,
    SUBJECTS,
    describe,
)
from truemoment.worlds.timelines import MOST_QUERIES

FORMS = {
    form: number
    for number, action in enumerate(ACTIONS)
    for verb in action.verbs
    for form in (verb.base, verb.third, verb.gerund)
}
numbers = st.floats(0, 1, exclude_max=True)


def test_size_of_the_language():
    assert len(ACTIONS) >= 20
    assert len(OBJECTS) >= 15
    assert sum(len(action.verbs) > 1 for action in ACTIONS) >= 5


def test_no_form_belongs_to_two_actions():
    n_forms = sum(3 * len(action.verbs) for action in ACTIONS)
    same = sum(verb.base == verb.third for action in ACTIONS for verb in action.verbs)
    assert same == 0
    assert len(FORMS) == n_forms


def test_regular_forms_are_spelled_as_english_spells_them():
    # The rules of regular third persons and gerunds; a last consonant is doubled in verbs of one short syllable.
    doubled = {"cut", "put", "sit", "grab", "drag", "run", "wrap", "drop", "shut"}
    for verb in (verb for action in ACTIONS for verb in action.verbs):
        if verb.base.endswith(("s", "sh", "ch", "x", "ss")):
            third = verb.base + "es"
        elif verb.base.endswith("y") and verb.base[-2] not in "aeiou":
            third = verb.base[:-1] + "ies"
        else:
            third = verb.base + "s"
        stem = verb.base[:-1] if verb.base.endswith("e") else verb.base
        gerund = stem + (stem[-1] if verb.base in doubled else "") + "ing"
        assert (verb.third, verb.gerund) == (third, gerund)


def test_an_action_never_runs_out_of_objects():
    # All events asked for may be one action, each to another object; one is left for an event that is not.
    for action in ACTIONS:
        assert len(set(action.objects)) == len(action.objects) > MOST_QUERIES


def test_frequencies():
    assert FREQUENCY.sum() == pytest.approx(1, abs=1e-12)
    # 1 / (rank + 8): the first is 39 / 8 times as frequent as the last of 32.
    assert FREQUENCY[0] / FREQUENCY[-1] == pytest.approx(39 / 8)
    assert np.all(np.diff(FREQUENCY) < 0)


@given(st.integers(0, len(ACTIONS) - 1), st.data(), st.lists(numbers, min_size=N_CHOICES, max_size=N_CHOICES))
def test_the_first_verb_names_the_action(action, data, choices):
    name = data.draw(st.sampled_from(ACTIONS[action].objects))
    sentence = describe(action, name, np.array(choices))
    assert re.fullmatch(r"[A-Z][a-z ]+\.", sentence)
    assert "  " not in sentence
    words = sentence[:-1].lower().split()
    # "While", "before" and the particles of other verbs stand behind the object; nothing before it is a verb's form.
    assert FORMS[next(word for word in words if word in FORMS)] == action
    assert name in words
    assert words[words.index(name) - 1] in {"the", "an" if name[0] in "aeiou" else "a"}


def test_no_other_word_looks_like_a_verb_of_ours():
    for text in (*SUBJECTS, *ADVERBS, *CIRCUMSTANCES, "is", "begins to"):
        assert not set(text.split()) & set(FORMS)
    for action in ACTIONS:
        for verb in action.verbs:
            assert not set(verb.pattern.split()) & set(FORMS)


def test_shares_of_the_forms():
    # 65 % third person, 25 % "is ...ing", 10 % "begins to ...": 20,000 draws, four standard errors.
    rng = np.random.default_rng(0)
    said = [describe(0, "door", rng.random(N_CHOICES)) for _ in range(20_000)]
    for pattern, share in ((r"\bopens\b", 0.65), (r"\bis (\w+ly )?opening\b", 0.25), (r"\bbegins to open\b", 0.10)):
        found = sum(bool(re.search(pattern, sentence)) for sentence in said) / len(said)
        assert abs(found - share) < 4 * np.sqrt(share * (1 - share) / len(said))
