"""Control tasks: queries whose right answer is known, at seeded places that people cannot recognise.

*gold*: a query with an agreed moment. *repeat*: the person's own earlier query, at least 30 tasks later. *absent*: a
sentence of another video, whose content words do not occur in this video's sentences. In ``verify`` studies: *moved*,
a moment where it does not overlap, and *other*, a sentence of another video.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from truemoment.web.annotating.study import ControlShares

REPEAT_AFTER = 30
"""Tasks between a query and its repeat."""

TRIES = 200
"""Sentences that are tried for an absent control."""

_WORD = re.compile(r"[^\W\d_]+")

_FUNCTION_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "been",
        "being",
        "by",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "he",
        "her",
        "him",
        "his",
        "in",
        "into",
        "is",
        "it",
        "its",
        "of",
        "off",
        "on",
        "onto",
        "or",
        "out",
        "over",
        "she",
        "some",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "they",
        "this",
        "to",
        "up",
        "was",
        "were",
        "while",
        "who",
        "with",
        "person",
        "people",
        "man",
        "woman",
        "someone",
        "another",
        "other",
        "one",
        "two",
        "they",
    ]
)


@dataclass(frozen=True)
class PlannedTask:
    """A task of a person: the number of its query, and which control it is; "" for none."""

    query: int
    control: str = ""


def content_words(sentence: str) -> frozenset[str]:
    """Return the content words of a sentence, without endings.

    Examples
    --------
    >>> sorted(content_words("The person opens two doors"))
    ['door', 'open']
    """
    words = _WORD.findall(sentence.casefold())
    return frozenset(_stem(word) for word in words if word not in _FUNCTION_WORDS)


def _stem(word: str) -> str:
    for ending in ("ing", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def absent_pairs(sentences: Mapping[int, Sequence[str]], count: int, rng: np.random.Generator) -> list[tuple[int, str]]:
    """Return pairs of a video and a sentence of another video that shares no content word with its sentences.

    Parameters
    ----------
    sentences
        Sentences of each video.
    count
        Number of pairs; fewer where none are found.
    """
    videos = sorted(sentences)
    if len(videos) < 2:
        return []
    words = {video: frozenset().union(*map(content_words, texts)) for video, texts in sentences.items()}
    pairs: list[tuple[int, str]] = []
    for _ in range(count):
        for _ in range(TRIES):
            video, other = rng.choice(len(videos), 2, replace=False).tolist()
            texts = sentences[videos[other]]
            sentence = texts[int(rng.integers(len(texts)))]
            content = content_words(sentence)
            if content and not content & words[videos[video]] and (videos[video], sentence) not in pairs:
                pairs.append((videos[video], sentence))
                break
    return pairs


def moved_moment(
    start_s: float, end_s: float, duration_s: float, rng: np.random.Generator
) -> tuple[float, float] | None:
    """Return a moment of the same length that does not overlap; None where there is no room.

    Examples
    --------
    >>> moved_moment(2.0, 5.0, 8.0, np.random.default_rng(0))
    (5.0, 8.0)
    >>> moved_moment(2.0, 7.0, 9.0, np.random.default_rng(0))
    """
    length = end_s - start_s
    before, after = start_s - length, duration_s - length - end_s
    room = max(0.0, before) + max(0.0, after)
    has_room = before >= 0 or after >= 0
    if length <= 0 or not has_room:
        return None
    at = float(rng.random()) * room
    if before >= 0 and (at <= before or after < 0):
        start = min(at, before)
    else:
        start = end_s + min(max(0.0, at - max(0.0, before)), after)
    return start, start + length


def with_controls(
    queries: Sequence[int], pools: Mapping[str, Sequence[int]], shares: ControlShares, rng: np.random.Generator
) -> list[PlannedTask]:
    """Return the tasks of a person: the queries in order, with controls at seeded places.

    Parameters
    ----------
    queries
        The person's queries in order.
    pools
        Queries of each control but ``repeat``, e.g. ``{"gold": [...], "absent": [...]}``; a person gets each once.
    shares
        Number of controls by share of `queries`; ``moved`` and ``other`` share that of ``absent``.
    """
    tasks = [PlannedTask(query) for query in queries]
    share = {"gold": shares.gold, "absent": shares.absent, "moved": shares.absent, "other": shares.absent}
    inserted: list[PlannedTask] = []
    for control, pool in pools.items():
        count = min(len(pool), round(share[control] * len(queries)))
        inserted += [PlannedTask(int(query), control) for query in rng.choice(np.asarray(pool), count, replace=False)]
    for task in rng.permutation(np.array(inserted, dtype=object)) if inserted else ():
        tasks.insert(int(rng.integers(len(tasks) + 1)), task)
    for _ in range(round(shares.repeat * len(queries))):
        repeated = {task.query for task in tasks if task.control == "repeat"}
        early = [
            at
            for at, task in enumerate(tasks)
            if not task.control and at + REPEAT_AFTER < len(tasks) and task.query not in repeated
        ]
        if not early:
            break
        at = early[int(rng.integers(len(early)))]
        place = int(rng.integers(at + REPEAT_AFTER, len(tasks) + 1))
        tasks.insert(place, PlannedTask(tasks[at].query, "repeat"))
    return tasks
