"""Moment-DETR, QD-DETR and FlashVTG on a world of QVHighlights' form: their scores when they see, and when they cannot.

Each is trained on clean features (perception 1) and on noise (perception 0) of the same videos; the first one also
answers the videos with their clips shuffled. Beside them: Blind-TAN, every floor of the audit, and ratings that see
no video: drawn, constant, or the mean of each clip in the training split.

Run: OMP_NUM_THREADS=1 python benchmarks/highlights.py FOLDER [--seeds 0,1,2] [--share 1] [--epochs 20]
    [--results FILE.csv] [--figures DIR]
FOLDER has the runs; the same command resumes them. `--share` is the share of QVHighlights' queries.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import torch

from truemoment.base.boundary.caching import Cache
from truemoment.base.intervals import Floats
from truemoment.base.records import Annotations, Predictions, Queries
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measures
from truemoment.learning.models import get_family
from truemoment.learning.training.floors import floor_rows, measure_floors
from truemoment.learning.training.grounding import TrainedGrounder
from truemoment.learning.training.performing import TrainingResult, perform
from truemoment.learning.training.recipes import read_recipe
from truemoment.learning.training.results import ResultRow, keep
from truemoment.learning.training.run import Run
from truemoment.media.features.changed import ChangedFeatures
from truemoment.report.drawing import FLOOR, METHOD, METHOD_FAINT, OTHER, drawing_style, new_figure, save_drawings
from truemoment.report.model import Drawing
from truemoment.worlds.highlights import CLIP_S, DURATION_S, QUERIES, HighlightsWorld, make_highlights

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = ("flash-vtg", "qd-detr", "moment-detr")
MEASURES = ("mAP", "R@1,IoU=0.5", "R@1,IoU=0.7", "HL-mAP,min=VeryGood")
PERCEPTIONS = (1.0, 0.0)
SEEING = ("train.batch=16", "select.measure=mAP", "select.patience=0")
BLIND = (
    *("settings.hidden=32", "settings.layers=2", "settings.n_clips=16", "train.learning_rate=0.003"),
    *("select.measure=mAP", "select.patience=0"),
)
"""What differs from the small recipes."""
LATE = {"moment-detr": ("train.epochs=80", "train.learning_rate=0.0003", "select.every=4")}
"""What differs further. Moment-DETR has not learned its windows after 25 epochs at the small recipe's rate of 0.001; at
0.0003 its loss falls from the twentieth epoch on. Chosen by the loss of training and by val."""

SEEN = {perception: f"highlights world, perception={perception:g}" for perception in PERCEPTIONS}
SHUFFLED = f"{SEEN[1.0]}, clips shuffled"
PANELS = {"mAP": "strongest floor", "HL-mAP,min=VeryGood": "mean rating of each clip"}
"""Measures of the figure, and what sees no video there."""

WORLD_SEED = 0
N_CLIPS = int(DURATION_S / CLIP_S)
N_DRAWS = 10
"""Ratings that are drawn; their figure is the mean."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", default="0,1,2", help="training seeds; all have the same world")
    parser.add_argument("--share", type=float, default=1.0, help="share of QVHighlights' queries in each split")
    parser.add_argument("--epochs", type=int, default=20, help="of all methods but the late one")
    parser.add_argument("--results", type=Path, help="file that the figures are added to")
    parser.add_argument("--figures", type=Path, help="folder of the figure")
    options = parser.parse_args()
    torch.set_num_threads(1)
    queries = {name: round(options.share * count) for name, count in QUERIES.items()}
    worlds = {
        perception: make_highlights(queries, perception=perception, seed=WORLD_SEED) for perception in PERCEPTIONS
    }
    seeds = [int(seed) for seed in options.seeds.split(",")]
    everything: list[ResultRow] = []
    for rows in figures(worlds, seeds, options.epochs, options.folder):
        everything += rows
        for row in rows:
            print(f"{row.recipe:24} seed {row.seed}  {row.features:40} {row.measure:20} {row.value}", flush=True)
        if options.results is not None:
            keep(options.results, rows)
    if options.figures is not None:
        save_drawings(
            [Drawing("highlights-world", "Scores by what is seen", "", partial(drawn, everything))], options.figures
        )


def figures(
    worlds: Mapping[float, HighlightsWorld], seeds: Sequence[int], epochs: int, folder: Path
) -> Iterator[Sequence[ResultRow]]:
    """Yield the figures of floors, and of each run as soon as it is finished."""
    yield blind_rows(worlds[1.0].splits)
    for seed in seeds:
        blind = trained("blind-tan", seed, worlds[1.0], epochs, folder / "blind-tan" / f"seed-{seed}")
        yield blind.tests
        for method in METHODS:
            for perception, world in worlds.items():
                place = folder / method / f"perception={perception:g}" / f"seed-{seed}"
                seen = SEEN[perception]
                result = trained(method, seed, world, epochs, place)
                yield [msgspec.structs.replace(row, features=seen) for row in result.tests]
                if perception == 1:
                    yield shuffled_rows(result, world, seed, SHUFFLED)


def trained(method: str, seed: int, world: HighlightsWorld, epochs: int, place: Path) -> TrainingResult:
    """Train a method, or read the run that is there."""
    sees = method != "blind-tan"
    recipe = read_recipe(method, [*(SEEING if sees else BLIND), f"train.epochs={epochs}", *LATE.get(method, ())])
    splits = world.splits
    features, store = ("highlights world", world.features) if sees else ("", None)
    run = Run(recipe, seed, splits["train"], splits["val"], {"test": splits["test"]}, features, store)
    return perform(run, place, measures="; ".join(MEASURES if sees else MEASURES[:-1]))


def shuffled_rows(result: TrainingResult, world: HighlightsWorld, seed: int, seen: str) -> list[ResultRow]:
    """Return the figures of a run on the test videos with their clips in another order."""
    test = world.splits["test"]
    store = ChangedFeatures(world.features, "shuffled", seed)
    answers = TrainedGrounder.load(result.folder, store=store).ground(test.queries)
    scores = evaluate(test, answers, parse_measures("; ".join(MEASURES)))
    return [
        msgspec.structs.replace(row, features=seen, value=f"{scores.value(row.measure):.6f}") for row in result.tests
    ]


def blind_rows(splits: Mapping[str, Annotations]) -> list[ResultRow]:
    """Return the figures of every floor, and of ratings that see no video."""
    floors = measure_floors(
        splits, MEASURES[:-1], top=10, seed=0, cache=Cache.of_user(), on_status=lambda _: None, on_left_out=print
    )
    test, rng = splits["test"], np.random.default_rng(0)
    n_clips = N_CLIPS * test.n_queries
    draws: dict[str, list[Floats]] = {
        "random-rating": [rng.random(n_clips) for _ in range(N_DRAWS)],
        "constant-rating": [np.zeros(n_clips)],
        "mean-rating": [np.tile(mean_rating(splits["train"]), test.n_queries)],
    }
    rows = [row for floor in floors for row in floor.rows]
    for name, ratings in draws.items():
        scores = [evaluate(test, rated(test.queries, rating), parse_measures(MEASURES[-1])) for rating in ratings]
        mean = np.mean([of.value(MEASURES[-1]) for of in scores])
        [row] = floor_rows(name, scores[0], seed=0, fitted_on=None)
        rows.append(msgspec.structs.replace(row, value=f"{mean:.6f}"))
    return rows


def mean_rating(train: Annotations) -> Floats:
    """Return the mean rating of each clip over the training queries, 0 where a clip has none, (N_CLIPS,)."""
    assert train.saliency is not None  # noqa: S101 - the world has ratings
    total = np.bincount(train.saliency.clip, train.saliency.rating.mean(axis=1), minlength=N_CLIPS)
    return np.asarray(total / train.n_queries)


def rated(queries: Queries, rating: Floats) -> Predictions:
    """Return answers of the whole video, with ratings of all clips."""
    offsets, none = np.arange(len(queries) + 1), np.zeros(len(queries))
    return Predictions(
        queries.query_id, offsets, none, none + DURATION_S, none, saliency_offsets=N_CLIPS * offsets, saliency=rating
    )


def drawn(rows: Sequence[ResultRow]) -> Figure:
    """Draw a panel a measure: a bar for each method and what it sees, and lines for what sees no video."""
    looks = {
        SEEN[1.0]: (METHOD, "perception 1"),
        SHUFFLED: (METHOD_FAINT, "clips shuffled"),
        SEEN[0.0]: (OTHER, "perception 0"),
    }
    by_bar: dict[tuple[str, str, str], list[float]] = {}
    for row in rows:
        by_bar.setdefault((row.measure, row.recipe, row.features), []).append(100 * float(row.value))
    with drawing_style():
        figure = new_figure(2.2 * len(PANELS))
        panels = figure.subplots(len(PANELS), 1, squeeze=False)[:, 0]
        for axes, (measure, blind) in zip(panels, PANELS.items(), strict=True):
            for at, method in enumerate(METHODS):
                for number, (seen, (colour, label)) in enumerate(looks.items()):
                    values = by_bar.get((measure, method, seen), [])
                    if values:
                        spread = np.std(values, ddof=1) if len(values) > 1 else None
                        place = at + 0.26 * (number - 1)
                        axes.barh(place, np.mean(values), 0.24, xerr=spread, capsize=2, color=colour, label=label)
            floors = [np.mean(values) for (of, _, seen), values in by_bar.items() if of == measure and seen == "none"]
            axes.axvline(max(floors), color=FLOOR, linestyle=(0, (4, 2)), label=blind)
            axes.set_yticks(range(len(METHODS)), [get_family(method).title for method in METHODS])
            axes.invert_yaxis()
            axes.set_title(f"{measure}, %", loc="left")
        handles = {
            label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=2)
    return figure


if __name__ == "__main__":
    main()
