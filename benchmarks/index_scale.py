"""An index of MAD's size: 615 simulated films of 117 minutes, written, opened, searched, and what that costs.

Films are simulated (truemoment.worlds.films) at 2 rows a second: 512 numbers a row, shots of 5 s, moments of 4 s. No
picture is decoded, so what is timed is what an index does: writing, opening, codes of all pieces, the first stage by
codes against the one by pieces, the calibrated rule, and memory. Then every sentence of 112 films is answered in its
own film, as on MAD's test split.

Films that an earlier run has written to --folder are kept, so that a run that was ended goes on. The index takes 10 GB.

Run: OMP_NUM_THREADS=2 python benchmarks/index_scale.py --folder FOLDER [--films 615] [--every 1] [--only write,...]
"""

from __future__ import annotations

import argparse
import multiprocessing
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from truemoment.base.records import Annotations
from truemoment.evaluation.evaluate import evaluate
from truemoment.media.features.base import Frames
from truemoment.media.features.sentences import SentenceVectors
from truemoment.searching.codes import make_codes
from truemoment.searching.first_stage import CodedFirstStage, FirstStage
from truemoment.searching.index import Index, indexed_videos
from truemoment.searching.layout import CODES, Settings, VideoRecord, default_proposals, folder_name
from truemoment.searching.manifest import write_manifest
from truemoment.searching.retrieval import CANDIDATES, IndexSearch, search_index
from truemoment.searching.stopping import calibrate, search_until
from truemoment.searching.writing import IndexWriter, VideoFile
from truemoment.worlds.films import FPS, FilmSettings, SimulatedFilms, make_films

INDEX_FPS = 2.0
SLOWER = INDEX_FPS / FPS
"""Films are drawn with 5 rows a second and read as 2 a second, so all lengths are drawn shorter by this."""

NEARNESS = (0.15, 0.3)
N_FIRST, N_EXACT, N_RULE = 200, 20, 100
"""Sentences for the first stage, the exact search of all films, and the rule."""

BATCH = 20
"""Sentences that are ranked together; other work on the machine makes most batches slower."""

N_TEST = 112
N_MANY = 50_000
STAGES = ("write", "open", "codes", "memory", "first", "rule", "second", "protocol", "many")


def films_of(nearness: float, n_films: int) -> SimulatedFilms:
    """Return the same films for every nearness; only the vectors of the sentences differ."""
    settings = FilmSettings(
        minutes=117 * SLOWER, nearness=nearness, moment_s=4.1 * SLOWER, shot_s=5 * SLOWER, scene_s=90 * SLOWER
    )
    return make_films({"test": n_films}, settings, np.random.default_rng(0))


def sentences(films: SimulatedFilms, names: Sequence[str], many: int, seed: int) -> tuple[Frames, list[str]]:
    """Return vectors of drawn sentences about some films, and the films."""
    queries = films.annotations("test").queries
    rows = np.flatnonzero(np.isin(queries.video_id.astype(str), names))
    rows = np.sort(np.random.default_rng(seed).choice(rows, size=many, replace=False))
    chosen = queries.select(rows)
    return films.vectors(chosen), chosen.video_id.tolist()


def say(text: str) -> None:
    """Print at once."""
    print(text, flush=True)


def write(folder: Path, films: SimulatedFilms) -> None:
    """Write the films that are not there yet."""
    proposals = default_proposals(INDEX_FPS)
    made = Settings(
        model="simulated",
        encoder="simulated",
        fingerprint="simulated",
        n_dimensions=films.n_dimensions,
        fps=INDEX_FPS,
        proposals=proposals,
    )
    made_s, spent, n_rows = 0.0, [], 0
    with IndexWriter(folder, made) as writer:
        for name in films:
            if (folder / "videos" / folder_name(name)).is_dir():
                continue
            began = time.process_time()
            rows = films[name]
            made_s += time.process_time() - began
            began = time.process_time()
            film = VideoFile(name, folder / f"{name}.mp4", name)
            writer.keep_part(film, len(rows), 0, rows)
            writer.finish(film, len(rows), len(rows), len(rows) / INDEX_FPS)
            spent.append(time.process_time() - began)
            n_rows += len(rows)
            if len(spent) % 50 == 0:
                say(f"  {len(spent)} films written")
        found = indexed_videos(folder)
        write_manifest(folder, {name: about for name, (_, about) in found.items()})
    if spent:
        say(f"writing: {np.mean(spent):.2f} s of one core a film ({made_s / len(spent):.2f} s to make its vectors)")
    index = Index(folder)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    n_rows, n_pieces = sum(index.about(of).n_frames for of in index), sum(map(index.n_pieces, index))
    say(f"index: {len(index)} films, {n_rows:,} rows, {n_pieces:,} pieces, {size / 1e9:.2f} GB")


def open_index(folder: Path) -> None:
    """Time the opening of the index."""
    spent = [seconds(lambda: Index(folder)) for _ in range(5)]
    say(f"opening: {np.median(spent):.3f} s (median of 5)")


def seconds(work: Callable[[], object]) -> float:
    """Return how long something takes by the clock."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def codes(folder: Path) -> None:
    """Make the codes."""
    index = Index(folder)
    for file in (folder / CODES).glob("*"):
        file.unlink()
    took = seconds(lambda: make_codes(index))
    size = sum(file.stat().st_size for file in (folder / CODES).glob("*.codes"))
    n_pieces = sum(map(index.n_pieces, index))
    say(f"codes: {took:.0f} s for {n_pieces:,} pieces, {size / n_pieces:.0f} bytes a piece")


def rss_anon_mb() -> float:
    """Return the memory of this process that is of no file, MB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("RssAnon:"))


def searched_mb(folder: Path, vectors: Frames, by_codes: bool) -> tuple[float, float, float]:
    """Memory before the index is opened, the most while it is searched, and seconds of a search; in a new process."""
    import faiss  # noqa: F401, PLC0415 - what is measured is the index, not the libraries

    import truemoment.searching.scoring  # noqa: F401, PLC0415 - as above

    before, most, done = rss_anon_mb(), 0.0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.wait(0.002):
            most = max(most, rss_anon_mb())

    thread = threading.Thread(target=watch)
    thread.start()
    index = Index(folder)
    stage = CodedFirstStage(index) if by_codes else FirstStage(index)
    began = time.perf_counter()
    for vector in vectors:
        search_index(index, vector[None], 5, candidates=CANDIDATES, first_stage=stage)
    spent = (time.perf_counter() - began) / len(vectors)
    done.set()
    thread.join()
    return before, most, spent


def memory(folder: Path, films: SimulatedFilms) -> None:
    """Print the memory of a search by codes and by pieces."""
    vectors, _ = sentences(films, list(films), 10, 1)
    for by_codes in (True, False):
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            before, most, spent = pool.submit(searched_mb, folder, vectors, by_codes).result()
        how = "codes" if by_codes else "pieces in half precision"
        say(f"memory of a search by {how}: {most - before:.0f} MB beside {before:.0f} MB; {spent:.2f} s a sentence")


def first_stage(folder: Path, n_films: int) -> None:
    """Compare the first stage by codes with the exact one, at several sizes."""
    index = Index(folder)
    names = sorted(index)
    for size in sorted({min(size, n_films) for size in (100, 300, n_films)}):
        began = time.perf_counter()
        coded = CodedFirstStage(index, names[:size])
        say(f"  {size} films: loading the codes takes {time.perf_counter() - began:.2f} s")
        exact = FirstStage(index, names[:size])
        for nearness in NEARNESS:
            compare_stages(exact, coded, *sentences(films_of(nearness, n_films), names[:size], N_FIRST, 2), nearness)
        del exact, coded


def in_batches(stage: FirstStage | CodedFirstStage, vectors: Frames) -> tuple[float, float]:
    """Return seconds a sentence of the quickest batch, and of the processor in the median batch."""
    clock, used = [], []
    for low in range(0, len(vectors), BATCH):
        before = time.process_time()
        clock.append(seconds(partial(stage.best_videos, vectors[low : low + BATCH], CANDIDATES)))
        used.append(time.process_time() - before)
    return min(clock) / BATCH, float(np.median(used)) / BATCH


def compare_stages(
    exact: FirstStage, coded: CodedFirstStage, vectors: Frames, true: Sequence[str], nearness: float
) -> None:
    """Print times of both first stages, and how many films of the exact one stay."""
    coded.best_videos(vectors[:2], CANDIDATES)
    (took, used), (took_exact, _) = (in_batches(stage, vectors) for stage in (coded, exact))
    alone = min(seconds(partial(coded.best_videos, vectors[[k]], CANDIDATES)) for k in range(30))
    before, found = exact.best_videos(vectors, CANDIDATES), coded.best_videos(vectors, CANDIDATES)
    kept = np.mean([len(a & b) / len(a) for a, b in zip(before, found, strict=True)])
    right = np.mean([video in b for video, b in zip(true, found, strict=True)])
    say(
        f"first stage, {len(exact.video_ids)} films, {coded.n_pieces:,} pieces, nearness {nearness}: by codes "
        f"{took * 1e3:.1f} ms a sentence in the quickest batch of {BATCH} ({used * 1e3:.1f} ms of the processor), "
        f"{alone * 1e3:.0f} ms alone, exactly {took_exact * 1e3:.0f} ms; of the exact {CANDIDATES} films {kept:.4f} "
        f"stay; the sentence's own film is among them for {right:.3f}"
    )


def second_stage(folder: Path, n_films: int) -> None:
    """Compare what is found with the exact search of all films."""
    index = Index(folder)
    for nearness in NEARNESS:
        films = films_of(nearness, n_films)
        vectors, _ = sentences(films, sorted(index), N_EXACT, 3)
        began = time.perf_counter()
        exact = search_index(index, vectors, 5)
        took_exact = (time.perf_counter() - began) / N_EXACT
        stage = CodedFirstStage(index)
        began = time.perf_counter()
        found = search_index(index, vectors, 5, candidates=CANDIDATES, first_stage=stage)
        took = (time.perf_counter() - began) / N_EXACT
        hits = [len(set(a) & set(b)) / len(b) for a, b in zip(found, exact, strict=True)]
        say(
            f"nearness {nearness}: recall of the best 5 moments of {len(index)} films in {CANDIDATES} films by codes "
            f"{np.mean(hits):.3f}; {took:.2f} s a sentence, all films exactly {took_exact:.1f} s"
        )


def rule(folder: Path, n_films: int) -> None:
    """Calibrate the rule on 100 films and hold it against the exact search of them."""
    index = Index(folder)
    some = sorted(index)[:100]
    stage = CodedFirstStage(index, some)
    for nearness in NEARNESS:
        films = films_of(nearness, n_films)
        sample, _ = sentences(films, some, 100, 4)
        vectors, _ = sentences(films, some, N_RULE, 5)
        began = time.perf_counter()
        # A hundred of the films only, as the sentences are about them.
        calibration = calibrate(index, sample, sentences="simulated", n_videos=100)
        took = time.perf_counter() - began
        exact = search_index(index, vectors, 5, videos=some)
        for most in (40, 100):
            found = search_until(index, vectors, calibration, stage, 5, most=most)
            all_found = np.mean([one.moments == other for one, other in zip(found, exact, strict=True)])
            by_rule = [one.ended_by != "limit" for one in found]
            looked = [one.n_videos for one in found]
            say(
                f"rule, nearness {nearness}, at most {most} of {len(some)} films: delta {calibration.delta:.4f} "
                f"({took:.0f} s to calibrate); the best 5 are all found for {all_found:.3f} of {N_RULE} sentences; "
                f"films scored {np.mean(looked):.1f} (median {np.median(looked):.0f}, most {max(looked)}), ended by "
                f"the rule {np.mean(by_rule):.2f}"
            )


def protocol(folder: Path, n_films: int, every: int) -> None:
    """Answer every sentence of 112 films, or every n-th, in its own film."""
    index = Index(folder)
    films = films_of(NEARNESS[0], n_films)
    told = films.annotations("test")
    names = list(films)[:N_TEST]
    told = told.select_queries(np.isin(told.queries.video_id.astype(str), names))
    told = told.select_queries(np.arange(told.n_queries) % every == 0)
    rows = zip(
        *(told.query_id, told.video_id, told.duration_s / SLOWER, told.sentence),
        *(told.start_s / SLOWER, told.end_s / SLOWER),
        strict=True,
    )
    test = Annotations.from_rows(list(rows), dataset="mad", split="test")
    vectors = SentenceVectors(dict(zip(test.queries.query_id, films.vectors(test.queries), strict=True)))
    began = time.process_time()
    answers = IndexSearch(index, vectors).ground(test.queries, 100)
    took = time.process_time() - began
    scores = evaluate(test, answers, "R@1,IoU=0.5; R@5,IoU=0.5; R@100,IoU=0.1", "mad-clip,nms_threshold=none")
    figures = ", ".join(f"{of.measure} {100 * (of.value or 0):.2f}" for of in scores.measured())
    say(
        f"protocol: {len(test.queries):,} sentences in {N_TEST} films, {took:.0f} s of processor time, "
        f"{1e3 * took / len(test.queries):.1f} ms a sentence; {figures}"
    )


def many(folder: Path) -> None:
    """Open an index of 50,000 videos, with a manifest and without."""
    made = Settings(
        model="simulated",
        encoder="simulated",
        fingerprint="s",
        n_dimensions=8,
        fps=2.0,
        proposals=default_proposals(2.0),
    )
    with IndexWriter(folder, made) as writer:
        for number in range(N_MANY):
            name = f"clip {number}"
            about = VideoRecord(video_id=name, path=f"/{name}.mp4", identity=f"1:{number}", duration_s=4.0, n_frames=8)
            inside = writer.folder / "videos" / folder_name(name)
            inside.mkdir(exist_ok=True)
            writer._write_about(inside, about)
        found = {name: about for name, (_, about) in indexed_videos(folder).items()}
        without = seconds(lambda: Index(folder))
        write_manifest(folder, found)
    spent, used = [], []
    for _ in range(5):
        before = time.process_time()
        spent.append(seconds(lambda: Index(folder)))
        used.append(time.process_time() - before)
    say(
        f"opening {N_MANY:,} videos: {np.median(used):.2f} s of the processor, {np.median(spent):.2f} s by the clock "
        f"(medians of 5); without a manifest {without:.1f} s by the clock"
    )


def main() -> None:
    """Print times, sizes, recall and memory."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--folder", type=Path, required=True)
    arguments.add_argument("--films", type=int, default=615)
    arguments.add_argument("--every", type=int, default=1, metavar="N", help="answer every N-th sentence")
    arguments.add_argument("--only", default=",".join(STAGES))
    asked = arguments.parse_args()
    films = films_of(NEARNESS[0], asked.films)
    folder = asked.folder / "index"
    asked.folder.mkdir(parents=True, exist_ok=True)
    for stage in asked.only.split(","):
        began = time.perf_counter()
        {
            "write": lambda: write(folder, films),
            "open": lambda: open_index(folder),
            "codes": lambda: codes(folder),
            "memory": lambda: memory(folder, films),
            "first": lambda: first_stage(folder, asked.films),
            "second": lambda: second_stage(folder, asked.films),
            "rule": lambda: rule(folder, asked.films),
            "protocol": lambda: protocol(folder, asked.films, asked.every),
            "many": lambda: many(asked.folder / "many"),
        }[stage]()
        say(f"[{stage}: {time.perf_counter() - began:.0f} s by the clock]")


if __name__ == "__main__":
    main()
