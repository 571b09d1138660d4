"""truemoment demo --search: a film is rendered, indexed and searched, and what is found is measured."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from truemoment.cli.demo import claim
from truemoment.cli.options import followed, open_page, told_path, write_text
from truemoment.exceptions import InputError, UsageError

if TYPE_CHECKING:
    from truemoment.records import Annotations, Predictions
    from truemoment.searching.index import Index
    from truemoment.video.encoders import Encoder

FILM, ANNOTATIONS, PREDICTIONS, INDEX, PAGE = "film.mp4", "film.jsonl", "found.jsonl", "film.mp4.index", "found.html"
FPS = 4.0
"""Frames a second that are looked at: events begin and end to a quarter of a second."""

PROPOSALS = "windowed-grid:fps=4,window=512,tail=covered"
"""Moments from 2 s on: the film's events last no less, and the best single picture makes no moment."""

TOP = 5
MEASURES = "R@1,IoU=0.1; R@1,IoU=0.3; R@5,IoU=0.5; mIoU"
RANDOM_RUNS = 100


def search_demo(out: Path, minutes: float, seed: int, *, no_open: bool, quiet: bool) -> None:
    """Render a film, index it with the model that comes along, search it for every event, and measure that.

    Parameters
    ----------
    out
        Where everything goes.
    minutes
        Length of the film.
    seed
        Of all draws.
    no_open, quiet
        As for the demo.
    """
    import numpy as np

    from truemoment.datasets import own
    from truemoment.io import write_predictions
    from truemoment.searching.building import build_index
    from truemoment.searching.extraction import Loader
    from truemoment.searching.index import Index
    from truemoment.searching.layout import Settings, is_index
    from truemoment.searching.retrieval import EncodedSentences, IndexSearch
    from truemoment.searching.writing import IndexWriter, remove_index
    from truemoment.worlds.scenes import render_video

    if not 1 <= minutes <= 120:
        raise UsageError(f"--minutes: got {minutes:g}, expected 1 to 120")
    claim(out, [FILM, ANNOTATIONS, PREDICTIONS, INDEX, PAGE])
    try:
        for old in (PREDICTIONS, PAGE):  # of an earlier demo
            (out / old).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made anew ({error.strerror})", path=told_path(out)) from None
    if is_index(out / INDEX):
        remove_index(out / INDEX)
    with followed(show=not quiet and sys.stderr.isatty()) as tell:
        tell("loading the model")
        loader = Loader("scenes")
        encoder = loader.load()
        tell("rendering a film")
        annotations = render_video(out / FILM, np.random.default_rng(seed), minutes)
        own.write(out / ANNOTATIONS, [annotations])
        tell("looking at the film")
        settings = Settings(
            model=loader.model,
            encoder=encoder.name,
            fingerprint=encoder.fingerprint,
            n_dimensions=encoder.n_dimensions,
            fps=FPS,
            proposals=PROPOSALS,
        )
        with IndexWriter(out / INDEX, settings) as writer:
            report = build_index(writer, [(out / FILM).resolve()], loader)
        for why in report.failed.values():
            raise InputError(why)
        tell("searching it for every event")
        index = Index(out / INDEX)
        answers = IndexSearch(index, EncodedSentences(encoder)).ground(annotations.queries, TOP)
        write_predictions(out / PREDICTIONS, answers, annotations, made_by={"method": f"zero-shot {encoder.name}"})
        write_text(out / PAGE, _page(annotations.queries.sentence[0], index, encoder, out))
        tell("measuring")
        figures = _figures(annotations, answers, index, seed)
    click.echo(_found_table(annotations, answers))
    click.echo(f"\n{_figures_table(figures, annotations, encoder.name)}")
    if not quiet:
        _tell_files(out, annotations)
    if not no_open:
        open_page(out / PAGE)


def _found_table(annotations: Annotations, answers: Predictions) -> str:
    """Lay out each event: the sentence, where it is, and where it was found first."""
    from truemoment.intervals import temporal_iou
    from truemoment.reports.render.tabular import render
    from truemoment.reports.search import clock

    rows = []
    for q, sentence in enumerate(annotations.queries.sentence):
        where = slice(annotations.offsets[q], annotations.offsets[q + 1])
        start, end = annotations.start_s[where], annotations.end_s[where]
        k = answers.offsets[q]
        found = answers.start_s[k], answers.end_s[k]
        iou = temporal_iou(start, end, found[0], found[1])
        nearest = int(iou.argmax())
        there = f"{clock(start[nearest])} to {clock(end[nearest])}"
        rows.append([sentence, there, f"{clock(found[0])} to {clock(found[1])}", f"{iou[nearest]:.2f}"])
    return render(["sentence", "it is at", "found at", "IoU"], rows, numbers=(3,))


def _figures(annotations: Annotations, answers: Predictions, index: Index, seed: int) -> dict[str, list[float]]:
    """Measure what was found, and Random Chance and Oracle on the same proposals."""
    import numpy as np

    from truemoment.baselines.oracle import Oracle
    from truemoment.baselines.random_chance import RandomChance
    from truemoment.evaluation import evaluate
    from truemoment.measures import parse_measures

    measures = parse_measures(MEASURES)
    queries = annotations.queries

    def values(of: Predictions) -> list[float]:
        scores = evaluate(annotations, of, measures)
        return [scores.value(measure) for measure in measures]

    rng = np.random.default_rng(seed)
    chance = RandomChance(index.proposals, rng)
    random = np.mean([values(chance.ground(queries, TOP)) for _ in range(RANDOM_RUNS)], axis=0)
    best = Oracle(annotations, index.proposals).ground(queries, TOP)
    return {"found": values(answers), "Random Chance": random.tolist(), "Oracle": values(best)}


def _figures_table(figures: dict[str, list[float]], annotations: Annotations, name: str) -> str:
    """Lay out the figures in per cent, with what they are of."""
    from truemoment.measures import parse_measures
    from truemoment.reports.render.tabular import render

    titles = {
        "found": f"search with {name}",
        "Random Chance": f"Random Chance ({RANDOM_RUNS} runs)",
        "Oracle": "Oracle (the best there is)",
    }
    rows = [[titles[of], *(f"{100 * value:.2f}" for value in values)] for of, values in figures.items()]
    headings = [f"{annotations.n_queries} queries, %", *map(str, parse_measures(MEASURES))]
    return render(headings, rows, numbers=range(1, len(headings)))


def _page(sentence: str, index: Index, encoder: Encoder, out: Path) -> str:
    """Return the page that truemoment search makes of what it finds, by the command that stands on it."""
    from truemoment.cli.search import APART_S
    from truemoment.cli.search import TOP as SHOWN
    from truemoment.reports.search import Answer, page
    from truemoment.searching.retrieval import search_index
    from truemoment.video.clips import thumbnail

    shown = []
    found = search_index(index, encoder.sentences([sentence]), SHOWN, apart_s=APART_S)[0]
    for rank, of in enumerate(found, start=1):
        film = index.path_of(of.video_id)
        shown.append(Answer(rank, of, film, picture=thumbnail(film, (of.start_s + of.end_s) / 2)))
    words = ["truemoment", "search", sentence, told_path(out / INDEX), "--html", told_path(out / PAGE)]
    return page(sentence, shown, index, command=shlex.join(words))


def _tell_files(out: Path, annotations: Annotations) -> None:
    """Say what was written, and how to go on."""
    file = {name: told_path(out / name) for name in (FILM, ANNOTATIONS, PREDICTIONS, INDEX)}
    words = ["truemoment", "search", annotations.queries.sentence[0], file[INDEX]]
    measure = ["truemoment", "evaluate", file[PREDICTIONS], "--annotations", file[ANNOTATIONS]]
    click.echo(f"\nwritten to {told_path(out)}: {FILM}, {INDEX}, {ANNOTATIONS}, {PREDICTIONS}, {PAGE}")
    click.echo(f"search it yourself:\n  {shlex.join(words)}")
    click.echo(f"measure what was found:\n  {shlex.join([*measure, '--measures', MEASURES])}")
