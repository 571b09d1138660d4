"""truemoment demo --search: a video is rendered, indexed and searched, and what is found is measured."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from truemoment.base.boundary.files import write_text
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import temporal_iou
from truemoment.baselines.oracle import Oracle
from truemoment.baselines.random_chance import RandomChance
from truemoment.cli.demo_folder import claim
from truemoment.cli.outputs import open_page, say, status_line
from truemoment.cli.search.page import serve_search
from truemoment.data.datasets import own
from truemoment.data.formats import write_predictions
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measures
from truemoment.report.model import Cell, Report, Section, Table
from truemoment.report.render import html, terminal
from truemoment.report.words import clock, points
from truemoment.searching import report as reports
from truemoment.searching.building import build_index
from truemoment.searching.discount import HALF_S
from truemoment.searching.encoder_options import EncoderOptions, settings_with
from truemoment.searching.extraction import Loader
from truemoment.searching.index import Index
from truemoment.searching.layout import default_proposals, is_index
from truemoment.searching.pictures import Pictures, with_ranks
from truemoment.searching.request import RankingOptions
from truemoment.searching.retrieval import EncodedSentences, IndexSearch, search_index
from truemoment.searching.stopping import RetrievedMoments
from truemoment.searching.writing import IndexWriter, remove_index
from truemoment.worlds.scenes import render_video

if TYPE_CHECKING:
    from truemoment.base.records import Annotations, Predictions
    from truemoment.cli.serving import SearchPageOptions, ServingOptions
    from truemoment.media.video.encoders import Encoder

VIDEO, ANNOTATIONS, PREDICTIONS, INDEX, PAGE = "film.mp4", "film.jsonl", "found.jsonl", "film.mp4.index", "found.html"
FPS = 4.0
"""Frames per second that are embedded: events begin and end to a quarter of a second."""

TOP = 5
MEASURES = "R@1,IoU=0.1; R@1,IoU=0.3; R@5,IoU=0.5; mIoU"
RANDOM_RUNS = 100


def search_demo(out: Path, minutes: float, seed: int, *, no_open: bool, quiet: bool) -> None:
    """Render a video, index it with the built-in model, search it for every event, and measure that.

    Parameters
    ----------
    out
        Output folder.
    minutes
        Length of the video.
    seed
        Seed of all draws.
    no_open, quiet
        As for the demo.
    """
    if not 1 <= minutes <= 120:
        raise UsageError(f"--minutes: got {minutes:g}, expected 1 to 120")
    Loader("scenes").load()  # first: without its packages nothing is rendered
    _claim(out)
    with status_line(show=not quiet and sys.stderr.isatty()) as on_status:
        on_status("rendering a video")
        annotations = render_video(out / VIDEO, np.random.default_rng(seed), minutes)
        own.write(out / ANNOTATIONS, [annotations])
        on_status("indexing the video")
        encoder = _index(out)
        on_status("searching it for every event")
        index = Index(out / INDEX)
        predictions = IndexSearch(index, EncodedSentences(encoder), half_s=HALF_S).ground(annotations.queries, TOP)
        write_predictions(out / PREDICTIONS, predictions, annotations, made_by={"method": f"zero-shot {encoder.name}"})
        write_text(out / PAGE, _page(annotations.queries.sentence[0], index, encoder, out))
        on_status("measuring")
        figures = _figures(annotations, predictions, index, seed)
    click.echo("\n".join(terminal.body(_report(annotations, predictions, figures, encoder.name))))
    if not quiet:
        _write_next_steps(out, annotations)
    if not no_open:
        open_page(out / PAGE)


def serve_demo(out: Path, serving: ServingOptions, page: SearchPageOptions) -> None:
    """Serve the search page of the demo's index until Ctrl-C."""
    serve_search(Index(out / INDEX), EncoderOptions(), serving, page)


def _claim(out: Path) -> None:
    """Make the folder, and remove the files of an earlier demo."""
    claim(out, [VIDEO, ANNOTATIONS, PREDICTIONS, INDEX, PAGE])
    try:
        for old in (PREDICTIONS, PAGE):
            (OwnPath(out) / old).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot be replaced ({error.strerror})", path=out) from None
    if is_index(out / INDEX):
        remove_index(out / INDEX)


def _index(out: Path) -> Encoder:
    """Index the video, and return the model."""
    loader = Loader("scenes")
    with IndexWriter(out / INDEX, settings_with(loader, FPS, default_proposals(FPS))) as writer:
        done = build_index(writer, [(out / VIDEO).resolve()], loader)
    for why in done.failed.values():
        raise InputError(why)
    return loader.load()


def _report(annotations: Annotations, predictions: Predictions, figures: dict[str, list[float]], name: str) -> Report:
    """Return each event with the moment found for it, and the figures beside chance and the best possible."""
    tables = (_found_table(annotations, predictions), _figures_table(figures, annotations, name))
    return Report(title="Search demo", sections=(Section("found", "Events", tables),))


def _found_table(annotations: Annotations, predictions: Predictions) -> Table:
    """Return each event: the sentence, where it is, and where it was found first."""
    rows = []
    for q, sentence in enumerate(annotations.queries.sentence):
        where = slice(annotations.offsets[q], annotations.offsets[q + 1])
        start, end = annotations.start_s[where], annotations.end_s[where]
        k = predictions.offsets[q]
        answer = predictions.start_s[k], predictions.end_s[k]
        iou = temporal_iou(start, end, answer[0], answer[1])
        nearest = int(iou.argmax())
        place = f"{clock(start[nearest])} to {clock(end[nearest])}"
        row = (sentence, place, f"{clock(answer[0])} to {clock(answer[1])}", f"{iou[nearest]:.2f}")
        rows.append(tuple(map(Cell, row)))
    return Table("", ("sentence", "it is at", "found at", "IoU"), (("", tuple(rows)),), text_columns=(0, 1, 2))


def _figures(annotations: Annotations, answers: Predictions, index: Index, seed: int) -> dict[str, list[float]]:
    """Measure what was found, and Random Chance and Oracle on the same proposals."""
    measures = parse_measures(MEASURES)
    queries = annotations.queries

    def values(predictions: Predictions) -> list[float]:
        scores = evaluate(annotations, predictions, measures)
        return [scores.value(measure) for measure in measures]

    rng = np.random.default_rng(seed)
    chance = RandomChance(index.proposals, rng)
    random = np.mean([values(chance.ground(queries, TOP)) for _ in range(RANDOM_RUNS)], axis=0)
    best = Oracle(annotations, index.proposals).ground(queries, TOP)
    return {"found": values(answers), "Random Chance": random.tolist(), "Oracle": values(best)}


def _figures_table(figures: dict[str, list[float]], annotations: Annotations, name: str) -> Table:
    """Return the figures in percent."""
    titles = {
        "found": f"search with {name}",
        "Random Chance": f"Random Chance ({RANDOM_RUNS} runs)",
        "Oracle": "Oracle (best possible)",
    }
    rows = tuple(
        (Cell(titles[method]), *(Cell(points(value, 2)) for value in values)) for method, values in figures.items()
    )
    headings = (f"{annotations.n_queries} queries, %", *map(str, parse_measures(MEASURES)))
    return Table("", headings, (("", rows),))


def _page(sentence: str, index: Index, encoder: Encoder, out: Path) -> str:
    """Return the page of truemoment search for a sentence."""
    ranking = RankingOptions()
    moments = search_index(index, encoder.sentences([sentence]), ranking.top, apart_s=ranking.apart)[0]
    results = Pictures(index, in_memory=True).add(with_ranks(index, moments))
    words = ["truemoment", "search", sentence, str(out / INDEX), "--html", str(out / PAGE)]
    report = reports.report(sentence, results, index, RetrievedMoments(moments, 1, "all"))
    return html.page(report, command=shlex.join(words))


def _write_next_steps(out: Path, annotations: Annotations) -> None:
    """Write the names of the files, and commands that use them."""
    file = {name: str(out / name) for name in (VIDEO, ANNOTATIONS, PREDICTIONS, INDEX)}
    words = ["truemoment", "search", annotations.queries.sentence[0], file[INDEX]]
    measure = ["truemoment", "evaluate", file[PREDICTIONS], "--annotations", file[ANNOTATIONS]]
    say(f"\nwritten to {out}: {VIDEO}, {INDEX}, {ANNOTATIONS}, {PREDICTIONS}, {PAGE}")
    click.echo("search it yourself:")
    say(f"  {shlex.join(words)}")
    click.echo("measure what was found:")
    say(f"  {shlex.join([*measure, '--measures', MEASURES])}")
