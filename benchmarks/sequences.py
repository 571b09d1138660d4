"""Sequences of moments, every moment that stands out, and filters: what they cost, beside a comparison of all pairs.

First one film: the best pair of moments from each first moment on, by a sliding maximum over the frames and by a table
of all pairs. Both give the same, which is checked.

Then an index. Films are simulated (truemoment.worlds.films), 117 minutes each at 2 rows a second; a sentence is near a
moment, and the next one near the moment that follows in the same film. --copies writes every film so many times under
other names, so that an index of 1,200 hours is made in minutes; what is timed does not depend on what films show. The
recall of the first stage is that of the best five sequences of an exact search, without copies.

Run: OMP_NUM_THREADS=1 python benchmarks/sequences.py --folder FOLDER [--films 56] [--copies 11]
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from index_scale import INDEX_FPS, SLOWER, films_of, seconds, write
from truemoment.base.intervals import Ints
from truemoment.media.features.base import Frames
from truemoment.searching.codes import make_codes
from truemoment.searching.index import Index, indexed_videos
from truemoment.searching.layout import ABOUT, VIDEOS, default_proposals, folder_name, spans_of
from truemoment.searching.listing import GAP_S, MomentListing
from truemoment.searching.manifest import write_manifest
from truemoment.searching.median_scores import median_scores
from truemoment.searching.narrowing import Narrowing
from truemoment.searching.request import RankingOptions
from truemoment.searching.searcher import IndexSearcher
from truemoment.searching.selecting import find_listed
from truemoment.searching.sequences import NONE, best_sequences
from truemoment.searching.unrelated import Unrelated
from truemoment.worlds.films import SimulatedFilms

NEARNESS = 0.3
MINUTES = (5, 20, 60)
N_PAIRS = 20
ROWS_AT_ONCE = 256


def all_pairs(scores: Ints, first: Ints, end: Ints, gap: int) -> Ints:
    """Return the best sum of a pair from each first moment on, by a table of all pairs."""
    best = np.full(len(first), NONE)
    for low in range(0, len(first), ROWS_AT_ONCE):
        some = slice(low, low + ROWS_AT_ONCE)
        apart = first[None, :] - end[some, None]
        table = np.where((apart >= 0) & (apart <= gap), scores[1][None, :], NONE)
        ahead = table.max(axis=1)
        best[some] = np.where(ahead > NONE, scores[0][some] + ahead, NONE)
    return best


def one_film() -> None:
    """Compare both ways on films of several lengths."""
    rng = np.random.default_rng(0)
    gap = int(GAP_S * INDEX_FPS)
    for minutes in MINUTES:
        first, end = spans_of(default_proposals(INDEX_FPS), int(minutes * 60 * INDEX_FPS))
        scores = rng.integers(-1_000_000, 1_000_000, (2, len(first)))
        runs = [processor_s(partial(best_sequences, scores, first, end, gap)) for _ in range(9)]
        pairs, pairs_s = processor_s(partial(all_pairs, scores, first, end, gap))
        spent = float(np.median([took for _, took in runs]))
        equal = "equal" if (runs[0][0].total == pairs).all() else "DIFFERENT"
        print(
            f"{minutes} minutes, {len(first):,} candidate moments: {1e3 * spent:.2f} ms (median of 9), "
            f"all pairs {1e3 * pairs_s:,.0f} ms, {pairs_s / spent:,.0f} times; {equal}",
            flush=True,
        )


def pairs_of(films: SimulatedFilms, many: int) -> Frames:
    """Return vectors of drawn sentences and of the sentences whose moments follow, (N, 2, D)."""
    queries = films.annotations("test")
    order = np.lexsort((queries.start_s, queries.video_id.astype(str)))
    vectors, names = films.vectors(queries.queries)[order], queries.video_id[order]
    start_s, end_s = queries.start_s[order] / SLOWER, queries.end_s[order] / SLOWER
    follows = (names[1:] == names[:-1]) & (start_s[1:] >= end_s[:-1]) & (start_s[1:] <= end_s[:-1] + GAP_S)
    drawn = np.random.default_rng(1).choice(np.flatnonzero(follows), size=many, replace=False)
    return np.stack([vectors[drawn], vectors[drawn + 1]], axis=1)


def copy_films(folder: Path, copies: int) -> None:
    """Write every film of an index so many times in all, under other names."""
    for name, (path, _) in list(indexed_videos(folder).items()):
        for number in range(1, copies):
            copy = f"{name} {number}"
            target = folder / VIDEOS / folder_name(copy)
            if " " in name or target.exists():
                continue
            shutil.copytree(path.path, target)
            about = json.loads((target / ABOUT).read_text())
            about |= {"video_id": copy, "identity": f"{about['identity']}:{number}", "path": f"/copies/{copy}.mp4"}
            (target / ABOUT).write_text(json.dumps(about))
    write_manifest(folder, {name: about for name, (_, about) in indexed_videos(folder).items()})


def processor_s(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a piece of work gives, and the processor time that it takes, whatever else the machine does."""
    began = time.process_time()
    return work(), time.process_time() - began


def spent_s(work: Callable[[Frames], object], vectors: Iterable[Frames]) -> str:
    """Return the median and the largest processor time of searches, and the least time by the clock."""
    used, clock = [], []
    for some in vectors:
        began = time.perf_counter()
        used.append(processor_s(partial(work, some))[1])
        clock.append(time.perf_counter() - began)
    processor = f"{np.median(used):.2f} s of the processor (median of {len(used)}, most {max(used):.2f})"
    return f"{processor}, {min(clock):.2f} s by the clock at least"


def an_index(folder: Path, n_films: int, copies: int) -> None:
    """Time searches of an index, and measure the recall of the first stage."""
    films = films_of(NEARNESS, n_films)
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "index", films)
    originals, pairs = sorted(films), pairs_of(films, N_PAIRS)
    index = Index(folder / "index")
    staged, exact = (IndexSearcher(index, RankingOptions(exact=exact), originals) for exact in (False, True))
    recalls = []
    for vectors in pairs:
        medians = median_scores(index, vectors)
        best, staged_best = (searcher.find_sequences(vectors, medians, GAP_S).moments for searcher in (exact, staged))
        recalls.append(len(set(best) & set(staged_best)) / len(best))
    recall = f"{100 * np.mean(recalls):.1f} %"
    print(f"of the best 5 sequences of {n_films} films, {recall} are found in the films of the first stage", flush=True)
    copy_films(folder / "index", copies)
    index = Index(folder / "index")
    make_codes(index)
    index = Index(folder / "index")
    print(
        f"{len(index)} films, {sum(map(index.n_pieces, index)):,} pieces, {hours(index, index):,.0f} hours", flush=True
    )
    unrelated = Unrelated.of(index, np.random.default_rng(2).standard_normal((300, index.n_dimensions), np.float32))
    times(index, unrelated, list(pairs))


def hours(index: Index, names: Iterable[str]) -> float:
    """Return the length of some videos."""
    return sum(index.about(name).duration_s for name in names) / 3600


def times(index: Index, unrelated: Unrelated, pairs: Sequence[Frames]) -> None:
    """Print how long searches take, first stage at hand."""
    searcher = IndexSearcher(index, RankingOptions())
    searcher.load()

    def search(listing: MomentListing, ranking: RankingOptions = searcher.ranking) -> Callable[[Frames], object]:
        searcher.ranking = ranking
        return lambda vectors: find_listed(searcher, unrelated, listing, vectors[: 1 + len(listing.later)])

    search(MomentListing(then="b"))(pairs[0])  # maps what is read
    print(f"  one sentence: {spent_s(search(MomentListing()), pairs)}")
    print(f"  --then: {spent_s(search(MomentListing(then='b')), pairs)}")
    print(f"  --fold 0.98: {spent_s(search(MomentListing(fold=0.98)), pairs)}", flush=True)
    exact = RankingOptions(exact=True)
    print(f"  --then --exact: {spent_s(search(MomentListing(then='b'), exact), pairs[:2])}")
    print(f"  one sentence, --exact: {spent_s(search(MomentListing(), exact), pairs[:2])}")
    print(f"  --every: {spent_s(search(MomentListing(every=True)), pairs[:2])}")
    filters = Narrowing(length="3600..", file="*"), Narrowing()
    with_filters, without = (min(seconds(partial(some.videos, index)) for _ in range(5)) for some in filters)
    print(f"  filters by name and length: {1e3 * with_filters:.1f} ms; none: {1e6 * without:.0f} us")


def main() -> None:
    """Print times and recall."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--folder", type=Path, required=True)
    arguments.add_argument("--films", type=int, default=56)
    arguments.add_argument("--copies", type=int, default=11)
    arguments.add_argument("--only", choices=["film", "index"])
    asked = arguments.parse_args()
    began = time.perf_counter()
    if asked.only != "index":
        one_film()
    if asked.only != "film":
        an_index(asked.folder, asked.films, asked.copies)
    print(f"{time.perf_counter() - began:.0f} s by the clock")


if __name__ == "__main__":
    main()
