"""Probes for contamination: the same queries in other words, by rules and without a model.

``paraphrased`` keeps the meaning: each word of :data:`SYNONYMS` becomes another one, and the sentence gets a frame of
:data:`FRAMES`, which also moves it away from the start. ``jittered`` keeps the words readable: two letters change
places in the longest words, and case and punctuation change. A method that looks up the exact sentence finds neither.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from truemoment.base.records import Annotations, as_strings
from truemoment.evaluation.uncertainty import stream

SYNONYMS = MappingProxyType(
    {
        "man": "guy",
        "woman": "lady",
        "they": "the people",
        "sofa": "couch",
        "couch": "sofa",
        "bag": "sack",
        "cup": "mug",
        "picture": "photo",
        "phone": "telephone",
        "television": "TV",
        "starts": "begins",
        "begins": "starts",
        "started": "began",
        "begin": "start",
        "takes": "grabs",
        "puts": "places",
        "put": "place",
        "putting": "placing",
        "opens": "opens up",
        "closes": "shuts",
        "close": "shut",
        "closing": "shutting",
        "throws": "tosses",
        "throwing": "tossing",
        "runs": "dashes",
        "laughing": "chuckling",
        "looking": "gazing",
        "looks": "gazes",
        "holding": "clutching",
        "smiling": "grinning",
        "walks": "strolls",
        "walking": "strolling",
        "then": "after that",
        "while": "as",
        "through": "by way of",
        "shows": "displays",
        "small": "little",
        "big": "large",
        "fast": "quickly",
    }
)
"""Words, and others with the same meaning in most sentences of actions."""

FRAMES = ("in this video, {}", "here is what happens: {}", "at some point, {}", "the moment in which {}")
"""Sentences around a sentence; which one is drawn."""

_PERSON = re.compile(r"\b(?:a |the |one )?person\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")


def probes(annotations: Annotations, seed: int = 0) -> dict[str, Annotations]:
    """Return the annotations with other sentences, by the name of the probe; ids and moments stay.

    Examples
    --------
    >>> rows = [("v#0", "v", 30.0, "A person opens the door.", 2.0, 6.0)]
    >>> for name, probe in probes(Annotations.from_rows(rows)).items():
    ...     print(name, "-", probe.sentence[0])
    paraphrased - in this video, someone opens up the door
    jittered - a persno opesn the door
    """
    sentences = annotations.queries.sentence.tolist()
    results = {}
    for name, rule in PROBES.items():
        rng = stream(seed, name)
        of_query = as_strings([rule(sentence, rng) for sentence in sentences], "sentence")
        results[name] = replace(annotations, sentence=np.repeat(of_query, np.diff(annotations.offsets)))
    return results


def paraphrased(sentence: str, rng: np.random.Generator) -> str:
    """Return a sentence of the same meaning."""
    words = _PERSON.sub("someone", sentence.strip().rstrip("."))
    words = _WORD.sub(lambda match: _synonym(match[0]), words)
    frame = FRAMES[int(rng.integers(len(FRAMES)))]
    return frame.format(words[:1].lower() + words[1:])


def _synonym(word: str) -> str:
    synonym = SYNONYMS.get(word.lower(), word)
    return synonym.capitalize() if word[:1].isupper() and synonym.islower() else synonym


def jittered(sentence: str, rng: np.random.Generator) -> str:
    """Return the sentence with two letters exchanged in its longest words, other case and no full stop."""
    words = sorted(_WORD.finditer(sentence), key=lambda match: -len(match[0]))[:2]
    letters = list(sentence)
    for word in words:
        if len(word[0]) > 3:
            at = word.start() + 1 + int(rng.integers(len(word[0]) - 2))
            letters[at], letters[at + 1] = letters[at + 1], letters[at]
    text = "".join(letters).strip().rstrip(".")
    return (text[:1].swapcase() + text[1:]) + ("" if sentence.rstrip().endswith(".") else " .")


PROBES: MappingProxyType[str, Callable[[str, np.random.Generator], str]] = MappingProxyType(
    {"paraphrased": paraphrased, "jittered": jittered}
)
