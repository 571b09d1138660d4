"""Noise of collection: faults of an automatic collection of a film's sentences, with a dial for each.

MAD's training sentences were collected from audio description without a person's check (Soldan et al. 2022): the
narrator speaks some time after or before what he describes, the transcription loses words, some sentences are dialogue,
and some are two sentences that were not separated. The film itself does not change.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats, Ints
from truemoment.worlds.described.dialogue import draw_sentence

SHORTEST_S = 0.2
"""Shortest moment that noise leaves."""

LONGEST_ERROR_S = 60.0
"""Largest error of times that a setting may have."""

OF_TIMES, OF_SENTENCES = 3, 4
"""Streams of a film's seed; those below 3 are of its vectors."""


@dataclass(frozen=True)
class CollectionNoise:
    """Faults of an automatic collection. All 0 is a collection without faults.

    Parameters
    ----------
    jitter_s
        Standard deviation of each start and end, in seconds.
    shift_s
        Seconds by which all times are too late; negative for too early.
    dialogue_share
        Share of the sentences that are dialogue: their words and vectors describe nothing of their moment.
    joined_share
        Share of the sentences that are joined with the next one; the moment then covers both.
    word_error
        Share of the words that are lost. A sentence keeps at least one; its vector is as much nearer to noise.
    """

    jitter_s: float = 0.3
    shift_s: float = 0.5
    dialogue_share: float = 0.02
    joined_share: float = 0.05
    word_error: float = 0.1

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            seconds = field.name.endswith("_s")
            low, high = (-LONGEST_ERROR_S if field.name == "shift_s" else 0.0, LONGEST_ERROR_S if seconds else 1.0)
            if not low <= value <= high:
                raise UsageError(f"noise, {field.name}: got {value:g}, expected {low:g} to {high:g}")

    def scaled(self, factor: float) -> CollectionNoise:
        """Return the same faults, each `factor` times as strong; shares end at 1.

        Examples
        --------
        >>> CollectionNoise().scaled(0) == CollectionNoise(0, 0, 0, 0, 0)
        True
        """
        values = {field.name: factor * getattr(self, field.name) for field in fields(self)}
        return CollectionNoise(
            **{name: value if name.endswith("_s") else min(value, 1.0) for name, value in values.items()}
        )


@dataclass(frozen=True, eq=False)
class Described:
    """K sentences about a film, as they were collected.

    Parameters
    ----------
    first, last : (K,)
        The events that a sentence describes, from `first` to `last`; one event unless two sentences were joined.
    start_s, end_s : (K,)
        Its moment.
    sentence
        Its words.
    share : (K,)
        Share of the sentence that describes its events: 0 for dialogue, below 1 where words were lost.
    """

    first: Ints
    last: Ints
    start_s: Floats
    end_s: Floats
    sentence: tuple[str, ...]
    share: Floats

    def __len__(self) -> int:
        return len(self.sentence)

    @classmethod
    def without_noise(cls, start_s: Floats, end_s: Floats, sentence: tuple[str, ...]) -> Described:
        """Return one sentence for each event, as it is."""
        events = np.arange(len(sentence))
        return cls(events, events, start_s, end_s, sentence, np.ones(len(sentence)))


def collect(true: Described, noise: CollectionNoise, duration_s: float, seed: int) -> Described:
    """Return the sentences of a film as a collection with these faults collects them.

    Draws do not depend on the amounts: with a larger share, the faults of a smaller one remain.

    Parameters
    ----------
    true
        One sentence for each event, in order of start.
    noise
        The faults.
    duration_s
        Duration of the film; no moment extends beyond it.
    seed
        Seed of the film.
    """
    n_events = len(true)
    rng = np.random.default_rng([seed, OF_TIMES])
    join, talk = rng.random(n_events) < noise.joined_share, rng.random(n_events) < noise.dialogue_share
    error_s = rng.standard_normal((n_events, 2)) * noise.jitter_s + noise.shift_s
    first, last = _joined(join)
    start_s = true.start_s[first] + error_s[first, 0]
    end_s = np.array([true.end_s[low : high + 1].max() for low, high in zip(first, last, strict=True)])
    end_s = end_s + error_s[last, 1]
    if noise.jitter_s or noise.shift_s:
        start_s, end_s = _in_film(start_s, end_s, duration_s)
    sentence, shares = [], []
    for low, high in zip(first.tolist(), last.tolist(), strict=True):
        drawn = np.random.default_rng([seed, OF_SENTENCES, low])
        words = " and ".join(true.sentence[at].rstrip(".") for at in range(low, high + 1)) if high > low else ""
        words, share = _heard(words or true.sentence[low], noise.word_error, drawn)
        sentence.append(draw_sentence(drawn) if talk[low] else words)
        shares.append(0.0 if talk[low] else share)
    return Described(first, last, start_s, end_s, tuple(sentence), np.array(shares))


def _joined(join: np.ndarray) -> tuple[Ints, Ints]:
    """Return the first and last event of each sentence; a joined one takes the next event, which begins no other."""
    first, last = [], []
    at = 0
    while at < len(join):
        to = at + 1 if join[at] and at + 1 < len(join) else at
        first.append(at)
        last.append(to)
        at = to + 1
    return np.array(first, dtype=np.int64), np.array(last, dtype=np.int64)


def _in_film(start_s: Floats, end_s: Floats, duration_s: float) -> tuple[Floats, Floats]:
    """Return moments of 0.2 s or more within the film, rounded to hundredths as all times are."""
    shortest_s = min(SHORTEST_S, duration_s)
    start_s = np.clip(start_s, 0.0, duration_s - shortest_s)
    end_s = np.clip(np.maximum(end_s, start_s + shortest_s), shortest_s, duration_s)
    start_s = np.round(start_s, 2)
    return start_s, np.minimum(np.maximum(np.round(end_s, 2), start_s + 0.01), duration_s)


def _heard(sentence: str, word_error: float, rng: np.random.Generator) -> tuple[str, float]:
    """Return a sentence without the lost words, and the share of the words that remain."""
    words = sentence.split()
    draws = rng.random(len(words))
    heard = [word for word, draw in zip(words, draws, strict=True) if draw >= word_error]
    heard = heard or [words[int(draws.argmax())]]
    return " ".join(heard), len(heard) / len(words)
