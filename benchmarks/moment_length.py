"""The discount for short moments: figures of search with several half lengths, and without a discount.

Films are rendered (truemoment.worlds.scenes) and embedded by the included model, or simulated in MAD's form
(truemoment.worlds.films). Half length and exponent of the discount were chosen on these films. The film of
``demo --search`` is not among them and is reported beside them.

Run: OMP_NUM_THREADS=1 python benchmarks/moment_length.py FOLDER [--films 40]
Rendering and indexing 40 films of five minutes takes ten minutes; a second run in the same folder skips them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from truemoment.base.records import Annotations
from truemoment.data.datasets import own
from truemoment.data.datasets.source import AnnotationSource
from truemoment.evaluation.evaluate import evaluate
from truemoment.media.features.base import Frames
from truemoment.media.features.sentences import SentenceStore, SentenceVectors
from truemoment.searching.building import build_index
from truemoment.searching.encoder_options import settings_with
from truemoment.searching.extraction import Loader
from truemoment.searching.index import Index
from truemoment.searching.layout import Settings, default_proposals
from truemoment.searching.retrieval import EncodedSentences, IndexSearch, first_stage_recall
from truemoment.searching.writing import IndexWriter, VideoFile
from truemoment.worlds.films import FilmSettings, make_films
from truemoment.worlds.scenes import render_video

HALVES_S = (0.0, 0.125, 0.25, 0.5, 0.7, 1.0, 2.0)
FIRST_SEED, MINUTES = 101, 5.0
RENDERED_MEASURES = "R@1,IoU=0.1; R@1,IoU=0.5; R@1,IoU=0.7; R@5,IoU=0.5; mIoU"
MAD_MEASURES = "R@1,IoU=0.1; R@1,IoU=0.5; R@5,IoU=0.5; R@10,IoU=0.5; R@100,IoU=0.1; R@100,IoU=0.5; mIoU"
FILM_SEEDS = (201, 202, 203)
NEARNESS = (0.09, 0.2)
"""Of a sentence to its moment: as CLIP has it on MAD, and as a better model would."""

N_SENTENCES, FILM_MINUTES = 200, 40.0


def rendered(folder: Path, seeds: range) -> Annotations:
    """Render films, those that are not there yet; return their annotations."""
    parts = []
    for seed in seeds:
        video, lines = folder / f"film{seed}.mp4", folder / f"film{seed}.jsonl"
        if not (video.is_file() and lines.is_file()):
            own.write(lines, [render_video(video, np.random.default_rng(seed), MINUTES)])
        parts.append((seed, AnnotationSource(None, lines, None, None).read()))
    rows = [
        (f"{seed}-{query}", *row)
        for seed, part in parts
        for query, *row in zip(
            *(part.query_id, part.video_id, part.duration_s, part.sentence, part.start_s, part.end_s, part.annotator),
            strict=True,
        )
    ]
    return Annotations.from_rows(rows, dataset="rendered", split="all")


def indexed(folder: Path, videos: list[Path], fps: float, proposals: str) -> Index:
    """Index videos with the included model, those that are not indexed yet."""
    loader = Loader("scenes")
    with IndexWriter(folder, settings_with(loader, fps, proposals)) as writer:
        build_index(writer, videos, loader)
    return Index(folder)


def ablation(index: Index, sentences: SentenceStore, annotations: Annotations, measures: str, top: int) -> None:
    """Print a row of figures for each half length, with the mean length of the first moments."""
    for half_s in HALVES_S:
        found = IndexSearch(index, sentences, half_s=half_s).ground(annotations.queries, top)
        figures = evaluate(annotations, found, measures).measured()
        first = found.offsets[:-1]
        length_s = float((found.end_s[first] - found.start_s[first]).mean())
        values = "  ".join(f"{of.measure} {100 * (of.value or 0):.1f}" for of in figures)
        say(f"  h = {half_s:5g} s  {values}  length {length_s:.1f} s")


def on_rendered_films(folder: Path, n_films: int) -> None:
    """Print the figures on rendered films, and the recall of the first stage over all of them."""
    for name, seeds in (("chosen on", range(FIRST_SEED, FIRST_SEED + n_films)), ("demo's film", range(1))):
        annotations = rendered(folder, seeds)
        videos = [folder / f"film{seed}.mp4" for seed in seeds]
        index = indexed(folder / f"{seeds.start}-{seeds.stop}.index", videos, 2.0, default_proposals(2.0))
        sentences = EncodedSentences(Loader("scenes").load())
        say(f"rendered films ({name}): {len(videos)}, {annotations.n_queries} sentences, 2 frames a second")
        ablation(index, sentences, annotations, RENDERED_MEASURES, 5)
        if len(videos) > 1:
            vectors = sentences.vectors(annotations.queries)
            for half_s in (0.0, 0.5):
                recalls = (first_stage_recall(index, vectors, n, half_s=half_s) for n in (2, 5, 10, 20))
                values = "  ".join(f"{100 * recall:.1f}" for recall in recalls)
                say(f"  recall of the first stage, h = {half_s:g} s: {values} with 2, 5, 10 and 20 of {n_films} videos")


def on_simulated_films(folder: Path) -> None:
    """Print the figures on films in MAD's form, with MAD's candidate moments and measures."""
    for nearness in NEARNESS:
        path = folder / f"simulated-{nearness:g}.index"
        made = Settings(
            model="simulated",
            encoder="simulated",
            fingerprint="simulated",
            n_dimensions=512,
            fps=5.0,
            proposals="windowed-grid:fps=5",
        )
        parts: list[tuple[str, str, float, str, float, float]] = []
        vectors: dict[str, Frames] = {}
        with IndexWriter(path, made) as writer:
            for seed in FILM_SEEDS:
                settings = FilmSettings(minutes=FILM_MINUTES, n_sentences=N_SENTENCES, nearness=nearness)
                films = make_films({"test": 1}, settings, np.random.default_rng(seed))
                told = films.annotations("test")
                (name,) = films
                video = VideoFile(f"{seed}", path / f"{seed}.mp4", f"{seed}")
                writer.keep_part(video, len(films[name]), 0, films[name])
                writer.finish(video, len(films[name]), len(films[name]), float(told.queries.duration_s[0]))
                ids = [f"{seed}-{k}" for k in range(told.n_queries)]
                vectors |= dict(zip(ids, films.vectors(told.queries), strict=True))
                columns = (told.duration_s, told.sentence, told.start_s, told.end_s)
                parts += zip(ids, [f"{seed}"] * len(ids), *columns, strict=True)
        annotations = Annotations.from_rows(parts, dataset="simulated", split="test")
        say(f"simulated films: {len(FILM_SEEDS)}, {annotations.n_queries} sentences, nearness {nearness:g}")
        ablation(Index(path), SentenceVectors(vectors), annotations, MAD_MEASURES, 100)


def say(line: str) -> None:
    """Print a line now."""
    print(line, flush=True)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--films", type=int, default=40)
    given = arguments.parse_args()
    given.folder.mkdir(exist_ok=True)
    on_rendered_films(given.folder, given.films)
    on_simulated_films(given.folder)
