"""truemoment retrieve: rank clips by text, and texts by clip."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver
from truemoment.cli.groups import Output, data_options, output_options
from truemoment.cli.options import FILE, MOST_RESAMPLES, count_option, refuse_outputs, seed_option
from truemoment.cli.threads import OF_MODELS, threads_option
from truemoment.data.datasets.source import AnnotationSource


@click.command("retrieve", cls=Command)
@click.argument("source", type=FILE)
@click.option("--sentences", type=FILE, metavar="FILE", help="Vectors of the sentences: FILE.h5 or FILE.npz.")
@click.option("--model", type=FILE, metavar="RUN", help="A run of truemoment train mean-pool or frame-sequence.")
@data_options
@click.option("--fit-split", metavar="NAME", help="Split that the blind floor learns. [default: train; none for none]")
@click.option(
    "--margin-s",
    type=float,
    default=0.0,
    show_default=True,
    metavar="S",
    help="Seconds added on each side of a moment.",
)
@click.option("--fps", type=float, default=None, metavar="F", help="Rows a second of features that state none.")
@click.option(
    "--measures",
    default=None,
    metavar="'A; B'",
    help="Measures, e.g. 't2c:R@1; c2t:MdR'. [default: R@1, R@5, R@10, MdR, MnR of both directions]",
)
@click.option(
    "--tie", type=float, default=0.0, show_default=True, metavar="D", help="Largest difference of equal similarities."
)
@count_option(
    "--resamples", 1000, "Number of resamples of the videos for 95 % intervals.", least=2, most=MOST_RESAMPLES
)
@seed_option("the resamples")
@click.option("--save-similarities", type=FILE, metavar="FILE.npz", help="Save all similarities, texts x clips.")
@threads_option(OF_MODELS)
@output_options
def command(
    source: Path,
    sentences: Path | None,
    model: Path | None,
    data: AnnotationSource,
    fit_split: str | None,
    margin_s: float,
    fps: float | None,
    measures: str | None,
    tie: float,
    resamples: int,
    seed: int,
    save_similarities: Path | None,
    output: Output,
) -> None:
    """Rank all clips by a text and all texts by a clip, from features in SOURCE.

    Each sentence of a split is a text, and its moment is its clip. A clip's vector is the mean of the
    directions of at most 12 frames, or what a trained --model makes of them. SOURCE may also be
    FILE.npz with your own similarities, or the vectors that a run has written.

    \b
    truemoment retrieve clips.h5 --sentences texts.h5 --dataset mad --split test --data-dir data
    truemoment retrieve similarities.npz --measures "t2c:R@1; c2t:MdR"
    truemoment retrieve clips.h5 --sentences texts.h5 --model runs/pool --dataset lsmdc16 --split test-1000
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.searching.clips import report as reports
    from truemoment.searching.clips.measures import DEFAULT_MEASURES, parse_retrieval_measures
    from truemoment.searching.clips.ranked_clips import RetrievalChoices, rank_features, rank_similarities

    refuse_outputs([source, sentences, *data.files()], [output.json_path, save_similarities])
    choices = RetrievalChoices(
        measures=parse_retrieval_measures(measures or DEFAULT_MEASURES),
        fit_split=fit_split,
        margin_s=margin_s,
        fps=fps,
        tie=tie,
        resamples=resamples,
        seed=seed,
        save=save_similarities,
    )
    shown = _with_bar if output.progress else list
    if model is not None:
        from truemoment.learning.training.ranking import rank_with_run

        ranked = rank_with_run(model, str(source), sentences, data, choices, track=shown)
    elif sentences is None:
        ranked = rank_similarities(source, choices)
    else:
        ranked = rank_features(source, sentences, data, choices, shown)
    deliver(reports.report(ranked), lambda: reports.document(ranked), output)


def _with_bar(videos: list[str]) -> Iterable[str]:
    from tqdm import tqdm

    return tqdm(videos, desc="videos", leave=False)
