"""Public searchers of videos beside `truemoment index` and `search`, on the same films with the same model.

REPOS has checkouts of johanmodin/clifs and RajARROW/SceneSearch, named as `git clone` names them. Their code runs as
it is; where it loads CLIP it gets the included model `scenes`, and a stand-in for Streamlit presses the buttons of
SceneSearch's page. Films are rendered (truemoment.worlds.scenes). Seconds are those of the processor, over all threads
and workers. A searcher has a process of its own. A second run in the same FOLDER keeps films and measurements.

Run, where opencv-python-headless and patchify are installed:
OMP_NUM_THREADS=1 python benchmarks/search_peers.py REPOS FOLDER [--films 20] [--long 20]
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import os
import resource
import runpy
import shutil
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from truemoment.base.intervals import temporal_iou
from truemoment.media.video.encoders import load_encoder
from truemoment.searching.encoder_options import EncoderOptions, index_of
from truemoment.searching.request import RankingOptions
from truemoment.searching.session import SearchTarget, open_session
from truemoment.worlds.scenes import plan_video, render_video

Moments = list[tuple[float, float]]  # start and end in seconds, the best first
Search = Callable[[str], Moments]
Index = Callable[[Path], Search]

CHILDREN = resource.RUSAGE_CHILDREN

FIRST_SEED, MINUTES, TOP = 501, 3.0, 5
LENGTHS_S = np.arange(1.0, 12.5, 0.5)
CLIFS_PATCH = 72
"""As large a share of a film of 120 lines as its 360 pixels are of one of 600."""
SLIDERS = {"Max windows (cap)": 2000}
"""The most that SceneSearch's page allows; by default it stops after 900 windows, a window a second."""


def truemoment(_repos: Path) -> Index:
    """Index and search as the command line does by default."""

    def index(film: Path) -> Search:
        shutil.rmtree(index_of(film), ignore_errors=True)
        with open_session(SearchTarget(film, EncoderOptions(model="scenes")), RankingOptions(top=TOP)) as session:
            session.load()
        return lambda sentence: [(moment.start_s, moment.end_s) for moment in session.find(sentence).moments]

    return index


def clifs(repos: Path) -> Index:
    """Return the second around each frame; without the threshold, which was chosen for the scores of CLIP."""
    os.environ |= {"MODEL": "scenes", "INPUT_DIR": f"{tempfile.gettempdir()}/none", "OUTPUT_DIR": tempfile.gettempdir()}
    searcher = runpy.run_path(str(repos / "clifs" / "search" / "app" / "clifs.py"))["CLIFS"]

    def index(film: Path) -> Search:
        made = searcher()
        made.add_video(str(film), patch_size=CLIFS_PATCH)

        def search(sentence: str) -> Moments:
            frames = made.search(sentence, n=TOP, threshold=-math.inf)
            return [(frame["time"] - 0.5, frame["time"] + 0.5) for frame in frames]

        return search

    return index


class AnyName(SimpleNamespace):
    """A stand-in for Streamlit and its state: what only shows something does nothing."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - has every function of Streamlit
        return lambda *_args, **_options: None

    def __contains__(self, name: str) -> bool:
        return name in vars(self)


def scene_search(repos: Path) -> Index:
    """Return the windows that SceneSearch shows; its page is run once to index, and once for each sentence."""
    page: Any = AnyName(
        sidebar=nullcontext(),
        slider=lambda label, _low, _high, value, _step: SLIDERS.get(label, value),
        spinner=lambda _label: nullcontext(),
        columns=lambda count: [nullcontext()] * count,
        cache_resource=lambda load: load,
    )
    sys.modules["streamlit"] = page

    def run(sentence: str) -> Moments:
        page.text_input = lambda _label: sentence
        page.button = lambda label, **_options: not sentence and "Build" in label
        shown = runpy.run_path(str(repos / "SceneSearch" / "app.py")).get("results", [])
        return [(window.t_start, window.t_end) for _, window in shown]

    def index(film: Path) -> Search:
        page.session_state = AnyName(indexed=False)
        page.file_uploader = lambda *_args, **_options: SimpleNamespace(name=film.name, getbuffer=film.read_bytes)
        run("")
        return run

    return index


SEARCHERS = {"truemoment": truemoment, "clifs": clifs, "SceneSearch": scene_search}


def give_model() -> None:
    """Put modules clip and open_clip in place that load `scenes`; the tokens of a sentence are its characters."""
    encoder = load_encoder("scenes", device="cpu")

    def tokenise(texts: str | list[str]) -> torch.Tensor:
        return torch.tensor([list(map(ord, text)) for text in ([texts] if isinstance(texts, str) else texts)])

    def prepare(image: Any) -> torch.Tensor:  # noqa: ANN401 - a picture of Pillow
        return torch.from_numpy(encoder.prepare(np.asarray(image)))

    model = AnyName(
        encode_image=lambda batch: torch.from_numpy(encoder.images(batch.numpy())),
        encode_text=lambda rows: torch.from_numpy(encoder.sentences(["".join(map(chr, row)) for row in rows.tolist()])),
    )
    clip: Any = SimpleNamespace(
        load=lambda *_args, **_options: (model, prepare),
        tokenize=tokenise,
        create_model_and_transforms=lambda *_args, **_options: (model, None, prepare),
        get_tokenizer=lambda _name: tokenise,
    )
    sys.modules["clip"] = sys.modules["open_clip"] = clip


def spent_s() -> float:
    """Seconds of the processor that this process and its ended workers took."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, CHILDREN)]
    return sum(of.ru_utime + of.ru_stime for of in spent)


def measure(searcher: str, repos: Path, films: list[tuple[Path, tuple[str, ...]]]) -> list[dict[str, Any]]:
    """Index each film and search it for its sentences; return times, moments, and the peak memory.

    That of workers counts as if each core had one, as large as the largest.
    """
    logging.disable()
    give_model()
    with tempfile.TemporaryDirectory() as tempfile.tempdir:
        index, results = SEARCHERS[searcher](repos), []
        for film, sentences in films:
            times_s, found = [spent_s()], []
            search = index(film)
            times_s.append(spent_s())
            for sentence in sentences:
                found.append(search(sentence))
                times_s.append(spent_s())
            index_s, *query_s = np.diff(times_s).tolist()
            own, worker = (resource.getrusage(who).ru_maxrss / 1e3 for who in (resource.RUSAGE_SELF, CHILDREN))
            peak_mb = own + (os.cpu_count() or 1) * worker
            results.append({"index_s": index_s, "query_s": query_s, "found": found, "peak_mb": peak_mb})
    return results


def figures(found: list[Moments], references: list[Moments], length_s: float | None) -> list[float]:
    """Return four recalls, and how often the middle of the first moment lies inside a reference, in per cent.

    Given `length_s`, each moment gets this length around its middle.
    """
    hits = []
    for moments, reference in zip(found, references, strict=True):
        (start, end), true = np.array(moments).T[:, :, None], np.array(reference).T
        middle, half = (start + end) / 2, (end - start if length_s is None else length_s) / 2
        ious = temporal_iou(middle - half, middle + half, *true).max(axis=1)
        inside = ((true[0] <= middle[0]) & (middle[0] <= true[1])).any()
        hits.append([*(ious[:k].max() >= m for k in (1, TOP) for m in (0.3, 0.5)), inside])
    return [100 * float(share) for share in np.mean(hits, axis=0)]


def print_table(title: str, references: list[Moments], results: dict[str, list[dict[str, Any]]], hours: float) -> None:
    """Print two rows a searcher: its moments as they are, and with the length that suits these very films best."""
    measures = [f"R@{k},IoU={m}" for k in (1, TOP) for m in (0.3, 0.5)]
    columns = [title, "lengths", *measures, "inside", "index, s/h", "query, ms", "peak, MB"]
    print("\n| " + " | ".join(columns) + " |\n" + "| --- " * len(columns) + "|")
    for searcher, films in results.items():
        found = list(chain(*(film["found"] for film in films)))
        index_s, query_s = sum(film["index_s"] for film in films), chain(*(film["query_s"] for film in films))
        costs = index_s / hours, 1e3 * np.median(list(query_s)), films[-1]["peak_mb"]
        best_s = max(LENGTHS_S, key=lambda length_s: figures(found, references, length_s)[1])
        for length_s, lengths in ((None, "its own"), (best_s, f"{best_s:g} s")):
            values = [f"{value:.1f}" for value in figures(found, references, length_s)]
            print("| " + " | ".join([searcher, lengths, *values, *(f"{cost:.0f}" for cost in costs)]) + " |")


def main() -> None:
    """Print a table of the short films, and one of the long film."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repos", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--films", type=int, default=20)
    parser.add_argument("--long", type=float, default=20.0, help="minutes of the long film")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    films, references = [], []
    for seed, minutes in enumerate([*[MINUTES] * options.films, options.long], FIRST_SEED):
        film = options.folder / f"film{seed}-{minutes:g}.mp4"
        if not film.is_file():
            render_video(film, np.random.default_rng(seed), minutes)
        video = plan_video(np.random.default_rng(seed), minutes)
        rows, moments = video.annotations(film.stem), dict[str, Moments]()
        for query, start_s, end_s in zip(rows.query_id, rows.start_s, rows.end_s, strict=True):
            moments.setdefault(query, []).append((start_s, end_s))
        films.append((film, video.sentences))
        references.append(list(moments.values()))
    results = {}
    for searcher in SEARCHERS:
        path = options.folder / f"{searcher}.json"
        if not path.is_file():
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                path.write_text(json.dumps(pool.submit(measure, searcher, options.repos, films).result()))
        results[searcher] = json.loads(path.read_text())
    *short, long = references
    sentences, n_short = list(chain(*short)), options.films
    title = f"{n_short} films of {MINUTES:g} minutes, {len(sentences)} sentences"
    print_table(title, sentences, {name: of[:-1] for name, of in results.items()}, n_short * MINUTES / 60)
    title = f"a film of {options.long:g} minutes, {len(long)} sentences"
    print_table(title, long, {name: of[-1:] for name, of in results.items()}, options.long / 60)


if __name__ == "__main__":
    main()
