"""Small annotations to fit baselines on and to ask them about."""

from __future__ import annotations

import numpy as np
import pytest

from truemoment import Annotations
from truemoment.data.language import Token


class MarkedVerbs:
    """An engine for tests: words in capitals are verbs."""

    name = "marked verbs"

    def analyse(self, sentences):
        return [
            [Token(word, word.lower(), "VERB" if word.isupper() else "NOUN") for word in sentence.split()]
            for sentence in sentences
        ]


@pytest.fixture(scope="session")
def engine():
    """Give the engine whose verbs stand in capitals."""
    return MarkedVerbs()


def make_annotations(moments, *, sentence="a person WALKS", duration_s=40.0, split="train"):
    """Annotations of one moment a query, three queries a video, by (start_norm, end_norm)."""
    sentences = [sentence] * len(moments) if isinstance(sentence, str) else sentence
    return Annotations.from_rows(
        [
            (f"v{k // 3}#{k % 3}", f"v{k // 3}", duration_s, sentences[k], start * duration_s, end * duration_s)
            for k, (start, end) in enumerate(moments)
        ],
        split=split,
    )


@pytest.fixture(scope="session")
def at_shares():
    """Give the maker of annotations from shares of the video: at_shares([(0.0, 0.5), ...], sentence=...)."""
    return make_annotations


@pytest.fixture(scope="session")
def train():
    """60 queries with two verbs: OPENS lies early, CLOSES late; some rows are as faulty as real ones."""
    rng = np.random.default_rng(11)
    rows = []
    for k in range(60):
        duration_s = float(rng.integers(20, 60))
        verb, low = ("OPENS", 0.0) if k % 2 else ("CLOSES", 0.6)
        start = (low + 0.15 * rng.random()) * duration_s
        end = start + (0.05 + 0.2 * rng.random()) * duration_s
        rows.append((f"t{k}", f"u{k // 3}", duration_s, f"a person {verb} a door", start, end))
    faulty = [("t60", 30.0, 12.0, 9.0), ("t61", 30.0, 28.0, 36.0), ("t62", 30.0, 31.0, 36.0), ("t63", 30.0, 5.0, 5.0)]
    rows += [(q, "w", duration_s, "a person OPENS a bag", start, end) for q, duration_s, start, end in faulty]
    return Annotations.from_rows(rows, split="train")


@pytest.fixture(scope="session")
def asked():
    """25 queries of videos of 8 to 60 s: one to three references, also swapped, empty and past the end."""
    rng = np.random.default_rng(12)
    rows = []
    for k in range(25):
        duration_s = float(8 + 13 * (k // 5))
        sentence = ("it OPENS", "it CLOSES", "it RAINS", "silence", "it RAINS and CLOSES")[k % 5]
        for annotator in range(int(rng.integers(1, 4))):
            start = round(float(rng.uniform(0, duration_s)), 2)
            end = round(float(start + rng.uniform(-0.1, 0.6) * duration_s), 2)
            rows.append((f"q{k}", f"v{k // 5}", duration_s, sentence, start, end, str(annotator)))
    return Annotations.from_rows(rows, split="test")
