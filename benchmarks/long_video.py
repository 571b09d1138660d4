"""One film of 110 minutes, 100 sentences, the first 100 proposals after suppression at an IoU of 0.3: exact scoring.

33,000 frames at 5 a second, 512 numbers each, of a simulated film; MAD's 321,764 proposals. The peer is the published
method written plainly, in float32 as there: the mean frame of each proposal one by one; for each sentence its cosine
with all of them, and a walk down the ranked list that holds each proposal that is kept against all below it. As in the
published code, whether 100 are kept is looked up only at ranks that are a multiple of 100 and kept themselves, so that
the walk goes on beyond. It is timed on some sentences and multiplied, which is said; so is one that stops at once.

Pooled in float64, the scores of all proposals and sentences must equal ours, and so must the lists of some sentences.
Seconds are of one core's time. Then the Oracle of MAD's test split: as many films and sentences.

Run: OMP_NUM_THREADS=1 python benchmarks/long_video.py
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from truemoment.base.intervals import best_kept
from truemoment.base.records import Annotations, Predictions, Queries, as_strings
from truemoment.baselines import Oracle
from truemoment.baselines.proposals import WindowedGrid
from truemoment.media.features import Features
from truemoment.media.features.sentences import SentenceVectors
from truemoment.searching import ZeroShot
from truemoment.searching.scoring import span_norms, span_scores
from truemoment.worlds.films import FilmSettings, make_films
from world import film_world

FPS, DURATION_S = 5.0, 6600.0
N_SENTENCES, TOP, NMS = 100, 100, 0.3
N_WALKED = 5
"""Sentences for which the plain walk is timed."""


def film() -> tuple[np.ndarray, np.ndarray]:
    """Frames (F, D) and sentences (S, D) of the first 110 minutes of a simulated film."""
    films = make_films({"test": 1}, FilmSettings(minutes=220), np.random.default_rng(0))
    told = films.annotations("test")
    early = told.select_queries(np.cumsum(told.end_s < DURATION_S) <= N_SENTENCES)
    early = early.select_queries(early.end_s < DURATION_S)
    return films[str(early.video_id[0])][: int(FPS * DURATION_S)], films.vectors(early.queries)


def method(frames: np.ndarray, sentences: np.ndarray, *, device: str | None = None) -> Callable[[], Predictions]:
    """Ours, from features to answers, as a user calls it."""
    ids = as_strings([f"q{number}" for number in range(len(sentences))], "query_id")
    films, blank = (as_strings([text] * len(ids), "text") for text in ("film", ""))
    queries = Queries(ids, films, np.full(len(ids), DURATION_S), blank)
    vectors = SentenceVectors(dict(zip(ids, sentences, strict=True)))
    grounder = ZeroShot(Features({"film": frames}, fps=FPS), vectors, WindowedGrid(), nms=NMS, device=device)
    return lambda: grounder.ground(queries, TOP)


def seconds(function: Callable[[], object], runs: int, clock: Callable[[], float] = time.process_time) -> float:
    """Median of some runs; of processor time, so that others on the machine do not count."""
    times = []
    for _ in range(runs):
        began = clock()
        function()
        times.append(clock() - began)
    return float(np.median(times))


def pooled(frames: np.ndarray, spans: np.ndarray) -> np.ndarray:
    """The mean frame of each span, one by one (P, D)."""
    means = np.empty((len(spans), frames.shape[1]), dtype=frames.dtype)
    for number, (first, end) in enumerate(spans.tolist()):
        means[number] = frames[first:end].mean(axis=0)
    return means


def cosine(means: np.ndarray, sentence: np.ndarray) -> np.ndarray:
    """The cosine of a sentence with each mean (P,)."""
    lengths = np.linalg.norm(means, axis=1) * np.linalg.norm(sentence)
    return np.asarray(means @ sentence / np.maximum(lengths, 1e-6))


def walked(score: np.ndarray, spans: np.ndarray, *, at_once: bool) -> np.ndarray:
    """The peer's answers (K, 2): walk down the ranked list, hold what is kept against everything below."""
    ranked = spans[np.argsort(-score, kind="stable")]
    gone = np.zeros(len(ranked), dtype=bool)
    kept = 0
    for rank in range(len(ranked)):
        if gone[rank]:
            continue
        kept += 1
        if kept >= TOP and (at_once or rank % TOP == 0):
            break
        first, end = ranked[rank + 1 :].T
        overlap = np.maximum(np.minimum(end, ranked[rank, 1]) - np.maximum(first, ranked[rank, 0]), 0)
        hull = np.maximum(end, ranked[rank, 1]) - np.minimum(first, ranked[rank, 0])
        gone[rank + 1 :] |= overlap / hull > NMS
    return ranked[: rank + 1][~gone[: rank + 1]][:TOP]


def peak_mb() -> tuple[float, float]:
    """Megabytes of a process of its own: with the film in memory, and at the peak of answering."""
    answer = method(*film())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    answer()
    return before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def stages(frames: np.ndarray, sentences: np.ndarray) -> None:
    """Print what ours spends where."""
    first, end = WindowedGrid().spans(len(frames))
    norms = span_norms(frames, first, end)
    score = span_scores(frames, sentences[:1], first, end, norms)[0]
    print(f"  of this: {seconds(lambda: WindowedGrid().spans(len(frames)), 3):.3f} s to lay out {len(first):,} spans,")
    print(
        f"  {seconds(lambda: span_norms(frames, first, end), 3):.2f} s for their lengths, once a film; a sentence alone"
    )
    one = seconds(lambda: span_scores(frames, sentences[:1], first, end, norms), 5)
    keep = seconds(lambda: best_kept(score, first, end, threshold=NMS, top=TOP), 5)
    print(f"  takes {1e3 * one:.0f} ms to score and {1e3 * keep:.0f} ms to suppress")


def compare(frames: np.ndarray, sentences: np.ndarray) -> None:
    """Print times of ours and the peer's, and how far they differ."""
    answer = method(frames, sentences)
    ours_s = seconds(answer, 3)
    print(f"ours: {ours_s:.2f} s (median of 3) for {N_SENTENCES} sentences", flush=True)
    stages(frames, sentences)
    if on_gpu := _gpu():
        placed = method(frames, sentences, device="cuda")
        placed()
        same = np.array_equal(placed().start_s, answer().start_s)
        clock_s = seconds(placed, 3, time.perf_counter)
        print(f"ours on {on_gpu}: {clock_s:.2f} s of the clock, {'the same' if same else 'OTHER'} answers")

    start_s, end_s = WindowedGrid().moments(DURATION_S)
    spans = np.round(np.stack([start_s, end_s], axis=1) * FPS).astype(np.int64)
    time_peer(frames, sentences, spans, ours_s)
    check(answer(), frames, sentences, spans)


def time_peer(frames: np.ndarray, sentences: np.ndarray, spans: np.ndarray, ours_s: float) -> None:
    """Print what the peer takes."""
    began = time.process_time()
    means = pooled(frames, spans)
    pooled_s = time.process_time() - began
    cosine_s = seconds(lambda: cosine(means, sentences[0]), 3)
    score = [cosine(means, sentence) for sentence in sentences[:N_WALKED]]
    print(f"the peer: {pooled_s:.1f} s to pool each, then {cosine_s:.2f} s a sentence for cosines", flush=True)
    for how, at_once in (("as published", False), ("that stops at once", True)):
        began = time.process_time()
        for numbers in score:
            walked(numbers, spans, at_once=at_once)
        walk_s = (time.process_time() - began) / N_WALKED
        peer_s = pooled_s + N_SENTENCES * (cosine_s + walk_s)
        print(f"  and {walk_s:.2f} s for a walk {how}: {peer_s:.0f} s (on {N_WALKED} sentences, multiplied);", end=" ")
        print(f"ours is {peer_s / ours_s:.0f} times faster", flush=True)


def check(found: Predictions, frames: np.ndarray, sentences: np.ndarray, spans: np.ndarray) -> None:
    """Print how far ours and the peer's answers in float64 differ."""
    first, end = spans.T
    wide, norms = frames.astype(np.float64), span_norms(frames, first, end)
    scores = np.empty((N_SENTENCES, len(spans)))
    directions = sentences / np.linalg.norm(sentences.astype(np.float64), axis=1, keepdims=True)
    for low in range(0, len(spans), 4096):
        means = pooled(wide, spans[low : low + 4096])
        scores[:, low : low + 4096] = directions @ (means / np.linalg.norm(means, axis=1, keepdims=True)).T
    worst = 0.0
    for q in range(0, N_SENTENCES, 10):
        ours = span_scores(frames, sentences[q : q + 10], first, end, norms)
        worst = max(worst, float(np.abs(ours - scores[q : q + 10]).max()))
    other = 0
    for q in range(N_WALKED):
        low, high = found.offsets[q : q + 2]
        ours = np.round(np.stack([found.start_s[low:high], found.end_s[low:high]], axis=1) * FPS)
        expected = walked(scores[q], spans, at_once=True)
        other += int((ours != expected).any(axis=1).sum()) if len(ours) == len(expected) else TOP
    print(
        f"largest difference of {scores.size:,} scores {worst:.0e}; of {N_WALKED} lists of {TOP}, {other} places differ"
    )


def oracle() -> None:
    """Print the time of the Oracle for as many queries as MAD's test split has."""
    annotations: Annotations = film_world(72_044, 1)[0]
    took = seconds(lambda: Oracle(annotations, WindowedGrid()).ground(annotations.queries), 1)
    print(f"Oracle: {took:.1f} s for {annotations.n_queries:,} sentences of 112 films")


def _gpu() -> str | None:
    """Return the name of the GPU, where there is one."""
    try:
        import torch  # noqa: PLC0415 - not needed without
    except ImportError:
        return None
    return torch.cuda.get_device_name() if torch.cuda.is_available() else None


def main() -> None:
    """Print times, ratios, differences and the peak of memory."""
    # A new process starts from the peak of the one that starts it, and so memory comes first, while this one is small.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        before, peak = pool.submit(peak_mb).result()
    print(f"peak memory of ours {peak:.0f} MB, of which {before:.0f} MB before asking")
    compare(*film())
    oracle()


if __name__ == "__main__":
    main()
