"""truemoment demo --browse: short videos, two methods, and their answers on a page."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from truemoment.base.records import Annotations
from truemoment.baselines.random_chance import RandomChance
from truemoment.cli.browse import LookingOptions, serve_looking, show_counts
from truemoment.cli.demo_folder import claim
from truemoment.cli.outputs import say, status_line
from truemoment.cli.serving import SearchPageOptions, ServingOptions
from truemoment.data.datasets import own
from truemoment.data.datasets.source import AnnotationSource
from truemoment.data.formats import write_predictions
from truemoment.searching.building import build_index
from truemoment.searching.discount import HALF_S
from truemoment.searching.encoder_options import settings_with
from truemoment.searching.extraction import Loader
from truemoment.searching.index import Index
from truemoment.searching.layout import default_proposals
from truemoment.searching.retrieval import EncodedSentences, IndexSearch
from truemoment.searching.writing import IndexWriter
from truemoment.web.browsing.looking import look_at
from truemoment.worlds.scenes import render_video

VIDEOS, ANNOTATIONS, INDEX = "videos", "annotations.jsonl", "videos.index"

GUESSING, SEARCHING = "guessing", "searching"
"""The methods: search by the built-in model, and moments by chance."""

NAMES = ("park", "street", "beach", "harbour", "garden", "station", "market", "school")

MINUTES, EVENTS, TOP = 0.5, 4, 5

FPS = 4.0


def browse_demo(out: Path, seed: int, serving: ServingOptions, page: SearchPageOptions, *, quiet: bool) -> None:
    """Render videos, let two methods answer what happens in them, and serve the page of answers.

    A second call in the same folder serves the existing files.
    """
    serving.listening()
    files = {name: out / f"{name}.jsonl" for name in (GUESSING, SEARCHING)}
    if not (out / ANNOTATIONS).exists() or not all(path.exists() for path in files.values()):
        _make(out, files, seed, show=not quiet and sys.stderr.isatty())
    looked = look_at(list(files.items()), AnnotationSource(None, out / ANNOTATIONS, None, None))
    show_counts(looked)
    if not quiet:
        say(f"in {out}: {VIDEOS}, {INDEX}, {ANNOTATIONS}, {', '.join(path.name for path in files.values())}")
    options = LookingOptions(videos=out / VIDEOS, features_index=out / INDEX, notes=out / "notes.jsonl")
    words = ["--annotations", str(out / ANNOTATIONS)]
    serve_looking(looked, options, serving, page, first=files[GUESSING], data_words=words)


def _make(out: Path, files: dict[str, Path], seed: int, *, show: bool) -> None:
    """Render the videos, index them, and write annotations and predictions."""
    loader = Loader("scenes")
    encoder = loader.load()  # first: without its packages nothing is rendered
    claim(out, [VIDEOS, ANNOTATIONS, INDEX, *(path.name for path in files.values())])
    with status_line(show=show) as on_status:
        annotations = _videos(out / VIDEOS, seed, on_status)
        on_status("indexing the videos")
        with IndexWriter(out / INDEX, settings_with(loader, FPS, default_proposals(FPS))) as writer:
            build_index(writer, sorted((out / VIDEOS).resolve().glob("*.mp4")), loader)
        on_status("answering")
        index = Index(out / INDEX)
        queries = annotations.queries
        answers = {
            SEARCHING: IndexSearch(index, EncodedSentences(encoder), half_s=HALF_S).ground(queries, TOP),
            GUESSING: RandomChance(index.proposals, np.random.default_rng(seed)).ground(queries, TOP),
        }
        for name, predictions in answers.items():
            write_predictions(files[name], predictions, annotations, made_by={"method": name})
        own.write(out / ANNOTATIONS, [annotations])


def _videos(folder: Path, seed: int, on_status: Any) -> Any:  # noqa: ANN401 - a function; annotations
    """Render the videos, and return their annotations."""
    folder.mkdir(exist_ok=True)
    parts = []
    for number, name in enumerate(NAMES):
        on_status(f"rendering {name}.mp4")
        rng = np.random.default_rng([seed, number])
        parts.append(render_video(folder / f"{name}.mp4", rng, MINUTES, height=180, width=240, n_events=EVENTS))
    return replace(Annotations.joined(parts, split="demo"), dataset="demo")
