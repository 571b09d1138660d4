"""truemoment audit: report whether a model finds the moments or guesses them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver
from truemoment.cli.groups import (
    Fitting,
    Measuring,
    Output,
    PageOutput,
    bound,
    data_options,
    fitting_options,
    measuring_options,
    output_options,
    page_options,
    testing_options,
)
from truemoment.cli.options import (
    FILE,
    PredictionOptions,
    engine_option,
    files_of_run,
    reading_options,
    refuse_outputs,
    say,
    source_file,
    status_line,
)
from truemoment.cli.threads import OF_MODELS, threads_option
from truemoment.data.datasets.source import AnnotationSource
from truemoment.evaluation.uncertainty import DrawSettings

if TYPE_CHECKING:
    from truemoment.studies.audit import RelatedFiles


@dataclass(frozen=True)
class Related:
    """Options of :class:`truemoment.studies.audit.RelatedFiles`, which ``--help`` need not load."""

    select_split: str | None
    iid: Path | None
    iid_split: str
    shuffled: Path | None
    text_only: Path | None
    model: Path | None
    features: str | None

    def paths(self) -> list[Path | None]:
        """Return what is read."""
        own = [] if self.model is None else files_of_run(self.model)
        return [*own, self.iid, self.shuffled, self.text_only, source_file(self.features)]

    def files(self) -> RelatedFiles:
        """Return the value for the library."""
        from truemoment.studies.audit import RelatedFiles

        return RelatedFiles(**vars(self))


related_options = bound(
    "related",
    Related,
    click.option(
        "--select-split",
        metavar="NAME",
        help="Validation split on which floors are measured too. [default: val if there is one]",
    ),
    click.option("--iid", type=FILE, metavar="PREDICTIONS", help="Predictions of the same method on test-iid."),
    click.option(
        "--iid-split", default="test-iid", show_default=True, metavar="NAME", help="Name of the split of --iid."
    ),
    click.option("--shuffled", type=FILE, metavar="PREDICTIONS", help="Predictions on shuffled videos."),
    click.option(
        "--text-only",
        type=FILE,
        metavar="PREDICTIONS",
        help="Predictions of the same model without the frames, a floor of its own.",
    ),
    click.option(
        "--model",
        type=FILE,
        metavar="RUN",
        help="Folder of the model ('truemoment train'), which then predicts on changed videos too.",
    ),
    click.option("--features", metavar="SOURCE", help="Features that --model reads. [default: as in training]"),
    heading="Beside the audit",
)
"""What an audit may read beside the predictions, as ``related``."""


@click.command("audit", cls=Command)
@click.argument("predictions", type=FILE)
@data_options
@fitting_options
@engine_option("Engine that finds verbs: lexicon, spacy or spacy:MODEL.")
@related_options
@measuring_options
@reading_options
@testing_options
@click.option(
    "--reads",
    type=click.Choice(["sentence", "paragraph"]),
    help="Declare what the method reads: one sentence at a time, or also the video's other sentences.",
)
@click.option(
    "--gate",
    metavar="'A; B'",
    help="Exit 1 unless all conditions pass: checks, or figures as shortcut-share<0.8 (their 95 % intervals).",
)
@threads_option(OF_MODELS)
@page_options
@output_options
def command(
    predictions: Path,
    data: AnnotationSource,
    fitting: Fitting,
    engine: str,
    related: Related,
    measuring: Measuring,
    how: PredictionOptions,
    testing: DrawSettings,
    reads: Literal["sentence", "paragraph"] | None,
    gate: str | None,
    page: PageOutput,
    output: Output,
) -> None:
    """Compare PREDICTIONS with methods that never see the video.

    \b
    truemoment audit preds.jsonl --dataset charades-cd --split test-ood --html audit.html --open
    truemoment audit preds.jsonl --annotations mine.jsonl --split test --gate better-than-guessing
    truemoment audit preds.jsonl --dataset charades-cd --split test-ood --model runs/tan2d
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.learning.training import load_model
    from truemoment.studies.audit import audit_predictions
    from truemoment.studies.audit import report as reports

    page.refuse()
    files = related.files()
    read = [predictions, *data.files(), fitting.fit_annotations, *related.paths()]
    refuse_outputs(read, [page.html, output.json_path])
    with status_line(show=output.progress) as on_status:
        found = audit_predictions(
            predictions,
            data,
            related=files,
            fit_split=fitting.fit_split,
            fit_annotations=fitting.fit_annotations,
            measures=measuring.parsed_measures(),
            protocol=measuring.parsed_protocol(),
            engine=engine,
            resamples=testing.resamples,
            permutations=testing.permutations,
            seed=testing.seed,
            gate=gate,
            reads=reads,
            cache=fitting.cache(),
            read=partial(how.read, progress=output.progress),
            load=load_model,
            on_status=on_status,
        )
    browse = ["truemoment", "browse", str(predictions), *data.words(), *measuring.protocol_words()]
    report = replace(reports.report(found), browse=shlex.join(browse))
    deliver(report, lambda: reports.document(found), output, page)
    for outcome in found.outcomes:
        words = f"gate {outcome.condition.text}: {'passes' if outcome.passed else 'FAILS'} ({outcome.why})"
        say(words, err=True)
    if not found.passed:
        click.get_current_context().exit(1)
