"""What reviewers answered: a line a sentence, as the page of a review saves it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from truemoment.base.boundary.files import read_json_lines
from truemoment.base.errors import InputError
from truemoment.collection.export import kept_of
from truemoment.collection.layout import StoredSentence, films_in, read_collection
from truemoment.media.audio.alignment import Span

SAME_S = 1e-3
"""Times of a sentence that differ by less are the same."""


class ReviewAnswer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The answer of a reviewer about a sentence.

    Parameters
    ----------
    id, film_s
        The sentence, and its start and end as the page showed them.
    reviewer
        Who answered.
    kind, words
        What the sentence is, and whether its words are those that are spoken.
    said_s, seen_s
        When it is said, and when the picture shows it, in film time; None where the reviewer marked nothing.
    not_seen
        Whether the picture does not show it.
    """

    id: str
    film_s: Span
    reviewer: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    kind: Literal["description", "dialogue"]
    words: Literal["right", "slightly wrong", "wrong"]
    said_s: Span | None = None
    seen_s: Span | None = None
    not_seen: bool = False


class AnsweredSentence(msgspec.Struct, frozen=True):
    """A sentence with the answers of all its reviewers."""

    film: str
    sentence: StoredSentence
    answers: tuple[ReviewAnswer, ...]


def read_answers(out: Path, paths: Sequence[Path]) -> list[AnsweredSentence]:
    """Read the answers about the sentences of a collection, in the order of the collection.

    Raises
    ------
    InputError
        If an answer is of another collection, has impossible times, or repeats that of the same reviewer.
    """
    read_collection(out)
    films = films_in(out)
    sentence_of = {sentence.id: (film.report, sentence) for film in films for sentence in kept_of(film)}
    answers: dict[str, dict[str, ReviewAnswer]] = {}
    for path in paths:
        n_before = sum(map(len, answers.values()))
        for line, answer in read_json_lines(path, ReviewAnswer):
            if answer.id not in sentence_of:
                problem = f"got {answer.id!r}, expected a kept sentence of the collection"
                raise InputError(problem, path=path, line=line, field="id")
            report, sentence = sentence_of[answer.id]
            _check(answer, sentence, report.duration_s, path, line)
            by_reviewer = answers.setdefault(answer.id, {})
            if answer.reviewer in by_reviewer:
                problem = f"got {answer.id!r} of the reviewer {answer.reviewer!r} again, expected it once"
                raise InputError(problem, path=path, line=line, field="reviewer")
            by_reviewer[answer.reviewer] = answer
        if sum(map(len, answers.values())) == n_before:
            raise InputError("has no answers, expected lines that the page of a review saved", path=path)
    return [
        AnsweredSentence(report.name, sentence, tuple(answers[key].values()))
        for key, (report, sentence) in sentence_of.items()
        if key in answers
    ]


def _check(answer: ReviewAnswer, sentence: StoredSentence, duration_s: float, path: Path, line: int) -> None:
    """Refuse an answer about other times, or with times that are none."""
    if max(abs(a - b) for a, b in zip(answer.film_s, sentence.film_s, strict=True)) > SAME_S:
        problem = f"got {_words(answer.film_s)}, expected {_words(sentence.film_s)} as in the collection"
        raise InputError(f"{problem}; was another collection reviewed?", path=path, line=line, field="film_s")
    for field, span in (("said_s", answer.said_s), ("seen_s", answer.seen_s)):
        if span is not None and not (0 <= span[0] < span[1] < math.inf):
            problem = f"got {_words(span)}, expected a start and a later end in seconds"
            raise InputError(problem, path=path, line=line, field=field)
        if span is not None and span[1] > duration_s + 1:
            problem = f"got {_words(span)}, after the end of the film at {duration_s:.1f} s"
            raise InputError(problem, path=path, line=line, field=field)
    if answer.not_seen and answer.seen_s is not None:
        raise InputError("got times and not_seen, expected one of them", path=path, line=line, field="seen_s")


def _words(span: Span) -> str:
    return f"{span[0]:g} to {span[1]:g} s"
