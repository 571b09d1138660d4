"""Unique sentences by METEOR: 384,600 sentences in 650 films (the size of MAD), beside scoring all pairs.

The corpus is drawn: lengths as MAD states them (mean 12.7 words, standard deviation 8.1), words by Zipf's law from
60,000, and in every film some sentences that repeat or vary another. The straightforward way scores each pair of a film
in both directions. It is timed on two films, on which both ways must agree, and extrapolated by the number of pairs.

Run: OMP_NUM_THREADS=1 python benchmarks/uniqueness.py
"""

from __future__ import annotations

import resource
import time
from itertools import combinations

import numpy as np

from truemoment.data.language.meteor import meteor, split_words
from truemoment.studies.bias.uniqueness import uniqueness

N_FILMS, N_SENTENCES = 650, 384_600
"""MAD (Soldan et al. 2022), Table 1 and section 3.3."""
N_WORDS = 60_000
N_FILMS_IN_FULL = 2
THRESHOLDS = (0.99, 0.9)
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
ENDINGS = ("", "", "s", "ed", "ing")


def made_up_words(rng: np.random.Generator) -> np.ndarray:
    """Words of two to four syllables, some with an ending, so that stems differ from words."""
    words: dict[str, None] = {}
    while len(words) < N_WORDS:
        syllables = rng.choice(SYLLABLES, rng.integers(2, 5))
        words["".join(syllables) + str(rng.choice(ENDINGS))] = None
    return np.array(list(words), dtype=object)


def film(words: np.ndarray, share: np.ndarray, n: int, rng: np.random.Generator) -> list[str]:
    """Sentences of a film; one in a hundred repeats an earlier one, one in a hundred differs from it by a word."""
    lengths = np.maximum(rng.gamma((12.7 / 8.1) ** 2, 8.1**2 / 12.7, n).round().astype(int), 1)
    drawn = np.split(words[rng.choice(N_WORDS, lengths.sum(), p=share)], np.cumsum(lengths)[:-1])
    for row in np.flatnonzero(rng.random(n) < 0.02):
        again = drawn[rng.integers(0, row + 1)].copy()
        if rng.random() < 0.5:
            again[rng.integers(0, len(again))] = words[rng.integers(0, N_WORDS)]
        drawn[row] = again
    return [" ".join(of).capitalize() + "." for of in drawn]


def all_pairs(sentences: list[str]) -> list[np.ndarray]:
    """Which sentences are unique, by the definition; once a threshold."""
    words = [split_words(sentence) for sentence in sentences]
    best = np.zeros(len(words))
    for i, j in combinations(range(len(words)), 2):
        score = max(meteor(words[i], words[j]), meteor(words[j], words[i]))
        best[i], best[j] = max(best[i], score), max(best[j], score)
    return [best < threshold for threshold in THRESHOLDS]


def main() -> None:
    rng = np.random.default_rng(0)
    words = made_up_words(rng)
    share = 1 / np.arange(1, N_WORDS + 1)
    share /= share.sum()
    sizes = np.diff(np.linspace(0, N_SENTENCES, N_FILMS + 1).astype(int))
    films = [film(words, share, int(n), rng) for n in sizes]
    video_id = [f"film {number}" for number, of in enumerate(films) for _ in of]
    sentences = [sentence for of in films for sentence in of]

    start = time.perf_counter()
    found = uniqueness(video_id, sentences, THRESHOLDS)
    ours = time.perf_counter() - start
    print(f"{len(sentences):,} sentences in {N_FILMS} films, {found[0].pairs:,} pairs of one film")
    print(f"ours: {ours:.1f} s, {found[0].pairs_scored:,} pairs scored")
    for of in found:
        print(f"  unique below {of.threshold:g}: {100 * of.share:.2f} %, {of.n_verbatim:,} verbatim repeats")

    start = time.perf_counter()
    in_full = [all_pairs(sentences) for sentences in films[:N_FILMS_IN_FULL]]
    taken = time.perf_counter() - start
    n = sum(map(len, films[:N_FILMS_IN_FULL]))
    for by_ours, by_definition in zip(found, zip(*in_full, strict=True), strict=True):
        if not np.array_equal(by_ours.is_unique[:n], np.concatenate(by_definition)):
            raise SystemExit(f"the two ways differ at {by_ours.threshold}")
    pairs = sum(len(of) * (len(of) - 1) // 2 for of in films[:N_FILMS_IN_FULL])
    whole = taken / pairs * found[0].pairs
    print(f"all pairs of {N_FILMS_IN_FULL} films scored, {pairs:,}: {taken:.1f} s, the same sentences unique")
    print(f"extrapolated to all films: {whole / 60:.0f} minutes, {whole / ours:.0f} times as long as ours")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
