"""Searching an index: a query on one film and on a hundred, the recall of the first look, and what indexing costs.

Films are simulated (truemoment.worlds.films): 512 numbers a frame, sentences near what their moment shows. A query on
one film of 110 minutes at 5 frames a second is timed with the index open, and from its opening on. The hundred films
have 13,200 frames each, on average, as 110 minutes at 2 a second. The straightforward way holds the sentence against
all frames of all films and takes the mean of each candidate moment by a running sum, film by film; it is exact too,
so what is compared is the first look and the norms that an index keeps.

Stages of indexing are measured on films that are encoded here, of moving noise on colours that change: 640 x 360 and
1920 x 1080. `scenes` is the model that comes along; "ViT-B/32" is a CLIP of that size with random weights, whose speed
is that of trained ones.

Run: OMP_NUM_THREADS=1 python benchmarks/search.py [--films 100]
"""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import av
import numpy as np

from truemoment.media.video.encoders import load_encoder
from truemoment.media.video.frames import outline_of, stream_frames
from truemoment.searching.extraction import Shard, embed
from truemoment.searching.first_stage import FirstStage
from truemoment.searching.index import Index
from truemoment.searching.layout import Settings, default_proposals
from truemoment.searching.retrieval import CANDIDATES, first_stage_recall, search_index
from truemoment.searching.writing import IndexWriter, VideoFile
from truemoment.worlds.films import FilmSettings, SimulatedFilms, make_films

N_QUERIES = 20
N_RECALL = 100
TOP = 5
FILM_MINUTES, FRAMES_OF_MANY = 110.0, 13_200
SECONDS_OF_VIDEO = 20


def settings(fps: float) -> Settings:
    """Settings of an index of simulated films."""
    return Settings(
        model="simulated",
        encoder="simulated",
        fingerprint="simulated",
        n_dimensions=512,
        fps=fps,
        proposals=default_proposals(fps),
    )


def write_index(folder: Path, films: SimulatedFilms, n_frames: int | None) -> Index:
    """Write films into an index, those of one film cut to a number of frames."""
    with IndexWriter(folder, settings(5.0)) as writer:
        for name in films:
            rows = films[name][:n_frames]
            film = VideoFile(name, folder / f"{name}.mp4", name)
            writer.keep_part(film, len(rows), 0, rows)
            writer.finish(film, len(rows), len(rows), len(rows) / 5.0)
    return Index(folder)


def median_s(work: Callable[[int], object], times: int) -> tuple[float, float]:
    """Median and largest time of some runs, each told its number."""
    spent = []
    for number in range(times):
        began = time.perf_counter()
        work(number)
        spent.append(time.perf_counter() - began)
    return float(np.median(spent)), max(spent)


def straightforward(index: Index, vector: np.ndarray) -> list[tuple[float, str]]:
    """Score every candidate moment of every film, pooling by running sums of all numbers; the best film of each."""
    best = []
    for name in index:
        rows = index[name].astype(np.float64)
        before = np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0)])
        first, end = index.spans(name)
        top = -np.inf
        for low in range(0, len(first), 4096):
            some = slice(low, low + 4096)
            means = (before[end[some]] - before[first[some]]) / (end[some] - first[some])[:, None]
            norms = np.linalg.norm(means, axis=1) * np.linalg.norm(vector)
            top = max(top, float((means @ vector / np.maximum(norms, 1e-6)).max()))
        best.append((top, name))
    return sorted(best, reverse=True)


def one_film(folder: Path) -> None:
    """A query on one film."""
    films = make_films({"test": 1}, FilmSettings(minutes=220), np.random.default_rng(0))
    vectors = films.vectors(films.annotations("test").queries)
    index = write_index(folder / "one", films, int(FILM_MINUTES * 60 * 5))
    name = next(iter(index))
    search_index(index, vectors[:1], TOP)
    warm, slowest = median_s(lambda k: search_index(index, vectors[[k]], TOP), N_QUERIES)
    opened, _ = median_s(lambda k: search_index(Index(folder / "one"), vectors[[k]], TOP), N_QUERIES)
    plain, _ = median_s(lambda k: straightforward(index, vectors[k].astype(np.float64)), 1)
    size = sum(file.stat().st_size for file in (folder / "one").rglob("*") if file.is_file())
    n_frames, n_spans = index.about(name).n_frames, len(index.spans(name)[0])
    print(f"one film: {n_frames:,} frames, {n_spans:,} candidate moments, index {size / 1e6:.1f} MB")
    print(
        f"  a query: {warm * 1e3:.0f} ms (median of {N_QUERIES}, most {slowest * 1e3:.0f}), opening {opened * 1e3:.0f}"
    )
    print(f"  pooling each candidate, running sums of all numbers: {plain * 1e3:,.0f} ms, {plain / warm:.0f} times")


def many_films(folder: Path, n_films: int) -> None:
    """A query on many films, and the recall of the first look."""
    minutes = FRAMES_OF_MANY / 5 / 60
    films = make_films({"test": n_films}, FilmSettings(minutes=minutes, n_sentences=40), np.random.default_rng(1))
    began = time.perf_counter()
    index = write_index(folder / "many", films, None)
    wrote = time.perf_counter() - began
    rng = np.random.default_rng(2)
    queries = films.annotations("test").queries
    chosen = rng.choice(len(queries), size=N_RECALL, replace=False)
    vectors, true = films.vectors(queries)[chosen], queries.video_id[chosen]
    n_frames = sum(index.about(name).n_frames for name in index)
    size = sum(file.stat().st_size for file in (folder / "many").rglob("*") if file.is_file())
    print(f"{len(index)} films: {n_frames:,} frames, index {size / 1e9:.2f} GB, written in {wrote:.0f} s")

    def from_opening(k: int) -> None:
        search_index(Index(folder / "many"), vectors[[k]], TOP, candidates=CANDIDATES)

    from_opening(0)
    opened, most = median_s(from_opening, N_QUERIES)
    corpus = FirstStage(index)
    look, _ = median_s(lambda k: corpus.best_videos(vectors[[k]], CANDIDATES), N_QUERIES)
    warm, _ = median_s(
        lambda k: search_index(index, vectors[[k]], TOP, candidates=CANDIDATES, first_stage=corpus), N_QUERIES
    )
    exact, _ = median_s(lambda k: search_index(index, vectors[[k]], TOP), 5)
    print(f"  a query, from opening the index on: {opened:.2f} s (median of {N_QUERIES}, most {most:.2f})")
    print(f"  with the first look at hand: {warm:.2f} s, of which the look at {corpus.n_pieces:,} pieces {look:.3f} s")
    print(f"  all films exactly: {exact:.2f} s")
    recall = first_stage_recall(index, vectors, CANDIDATES, top=TOP)
    found = np.mean(
        [video in names for video, names in zip(true, corpus.best_videos(vectors, CANDIDATES), strict=True)]
    )
    print(
        f"  of the best {TOP} moments of {N_RECALL} sentences {100 * recall:.1f} % lie in the {CANDIDATES} films left;"
    )
    print(f"  of the films that the sentences are about, {100 * found:.1f} %")


def write_video(path: Path, width: int, height: int, grain: int = 60, gop: int = 250) -> None:
    """Encode a video of moving noise: 25 frames a second; as films have, a key frame every 10 s."""
    rng = np.random.default_rng(0)
    noise = rng.integers(0, grain, (height, 2 * width, 3), dtype=np.uint8)
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("libx264", rate=25, options={"preset": "veryfast", "g": str(gop)})
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for k in range(SECONDS_OF_VIDEO * 25):
            colour = np.array([(k * 3) % 190, (k // 5 * 7) % 190, 90], dtype=np.uint8)
            pixels = np.ascontiguousarray(noise[:, k * 2 % width : k * 2 % width + width] + colour)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))


def random_clip() -> Any:  # noqa: ANN401 - an encoder
    """CLIP ViT-B/32 with random weights, beside the words of the model that comes along."""
    from transformers import CLIPConfig, CLIPModel  # noqa: PLC0415 - it takes seconds

    scenes: Any = load_encoder("scenes", device="cpu")
    preparation = replace(scenes.preparation, height=224, width=224, shortest_side=224)
    return replace(scenes, name="ViT-B/32", preparation=preparation, model=CLIPModel(CLIPConfig()).train(mode=False))


def core_seconds(work: Callable[[], Any]) -> tuple[Any, float]:
    """What a piece of work gives, and the processor time it took, whatever else the machine did."""
    began = time.process_time()
    return work(), time.process_time() - began


def stages(folder: Path) -> None:
    """Frames a second of a core in each stage, and of all stages beside each other."""
    import torch  # noqa: PLC0415 - it takes seconds

    torch.set_num_threads(1)
    print("stages of indexing at 2 frames a second; frames that a second of one core does:")
    for width, height in ((640, 360), (1920, 1080)):
        path = folder / f"{height}.mp4"
        write_video(path, width, height)
        outline = outline_of(path)
        encoders: tuple[Any, Any] = (load_encoder("scenes", device="cpu"), random_clip())
        for encoder in encoders:
            side = 2 * (encoder.preparation.shortest_side or encoder.preparation.height)  # as extraction decodes
            shown, decode_s = core_seconds(partial(list, stream_frames(path, 2.0, shortest_side=side, outline=outline)))
            frames = [pixels for _, pixels in shown]
            pictures, prepare_s = core_seconds(partial(list, map(encoder.prepare, frames)))
            batch = np.stack(pictures)
            encoder.images(batch[:2])
            batches = (batch[k : k + 32] for k in range(0, len(batch), 32))
            _, encode_s = core_seconds(partial(list, map(encoder.images, batches)))
            names, seconds = ("decode", "prepare", "encode"), (decode_s, prepare_s, encode_s)
            told = ", ".join(f"{name} {len(frames) / s:,.0f}" for name, s in zip(names, seconds, strict=True))
            bound = "encode" if encode_s >= decode_s + prepare_s else "decode" if decode_s > prepare_s else "prepare"
            began = time.perf_counter()
            seen = embed(Shard(VideoFile("v", path, ""), 0, 0, len(frames), 2.0, outline), encoder)
            wall = time.perf_counter() - began
            rate, clock = len(frames) / sum(seconds), len(frames) / wall
            waited = f"the model waited {seen.waited_s / wall:.0%} of it"
            print(f"  {width} x {height}, {encoder.name}: {told}; together {rate:,.1f}; {bound} bounds it")
            print(f"    by the clock, two threads: {clock:,.1f}; {waited}")


def main() -> None:
    """Print times, recall and rates."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--films", type=int, default=100)
    arguments.add_argument("--only", choices=["one", "many", "stages"])
    asked = arguments.parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        if asked.only in (None, "one"):
            one_film(folder)
        if asked.only in (None, "many"):
            many_films(folder, asked.films)
        if asked.only in (None, "stages"):
            stages(folder)
    finally:
        shutil.rmtree(folder)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    main()
