"""Marks of sentences: both sides of each rule, in sentences written for the test."""

import pytest

from truemoment.data.language import get_engine
from truemoment.data.language.marks import MARKS, marks_of

SENTENCES = {
    "temporal order": (
        ["he waits until the bell rings", "once she sits, he leaves", "he once more bows", "next, a dog barks",
         "they finish eating", "it falls before it breaks"],
        ["he stands next to a car", "the first man waves", "a car is stopped in the road", "he once sang",
         "he sits at the end of the bench", "as he sings, now and still"],
    ),
    "negation": (
        ["she can't see", "no one sits", "he fails to lift it", "a road without cars", "he never looks"],
        ["she not only sings but dances", "a knot is tied", "he notes it", "they fail the exam"],
    ),
    "counting": (
        ["3 dogs run", "both hands rise", "he claps once.", "for the third time he bows", "a couple of men sit"],
        ["one man sits", "he turns 90 degrees", "two minutes later he sits", "a couple dances", "it is 2:30",
         "first he sits"],
    ),
    "anaphora": (
        ["she sits", "in the kitchen he cooks", "the man folds it", "another dog barks", "the others cheer",
         "a boy washes them"],
        ["a man folds his shirt", "a cup falls and it breaks", "one man waves at another", "boys see each other",
         "before her class, a woman stretches", "at the same time, a dog barks", "it is raining"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("mark", MARKS)
def test_both_sides_of_each_rule(mark):
    has, has_not = SENTENCES[mark]
    found = marks_of([*has, *has_not], get_engine())[mark].tolist()
    wrong = [of for of, is_found in zip([*has, *has_not], found, strict=True) if is_found != (of in has)]
    assert wrong == []


def test_no_sentences_have_no_marks():
    assert {mark: of.shape for mark, of in marks_of([], get_engine()).items()} == dict.fromkeys(MARKS, (0,))
