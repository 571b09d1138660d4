"""truemoment audit: tell whether a model found the moments, or guessed them."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click

from truemoment.cli.options import (
    STANDARD_OUTPUT,
    PredictionOptions,
    data_options,
    files_of_run,
    fit_options,
    floors_cache,
    followed,
    measuring_options,
    no_cache_option,
    open_page,
    output_options,
    reading_options,
    refuse_files,
    refuse_outputs,
    seed_option,
    source_file,
    testing_options,
    told_path,
    write_json,
    write_text,
)
from truemoment.datasets.source import AnnotationSource, files_of, without_queries_of
from truemoment.exceptions import UsageError
from truemoment.records import Annotations, Predictions
from truemoment.text import printable

if TYPE_CHECKING:
    from truemoment.measures import Measure


@click.command("audit")
@click.argument("predictions", type=click.Path(path_type=Path))
@data_options
@fit_options
@click.option(
    "--select-split",
    metavar="NAME",
    help="Validation split on which floors are measured too, as evidence. [default: val if any]",
)
@click.option("--iid", type=click.Path(path_type=Path), metavar="PREDICTIONS", help="Its answers on test-iid.")
@click.option("--iid-split", default="test-iid", show_default=True, metavar="NAME", help="What --iid answers.")
@click.option(
    "--shuffled", type=click.Path(path_type=Path), metavar="PREDICTIONS", help="Its answers on shuffled videos."
)
@click.option(
    "--text-only",
    type=click.Path(path_type=Path),
    metavar="PREDICTIONS",
    help="The same model's answers without the frames, a floor of its own.",
)
@click.option(
    "--model",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Folder of the model ('truemoment train'), to ask it again on changed videos.",
)
@click.option("--features", metavar="SOURCE", help="What --model looks at. [default: as in training]")
@measuring_options
@reading_options
@testing_options
@seed_option("all draws")
@click.option("--gate", metavar="'A; B'", help="Exit 1 unless all hold: checks, or figures as shortcut-share<0.8.")
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Write the page.")
@click.option("--open", "open_it", is_flag=True, help="Open the page in a browser.")
@click.option("--figures", type=click.Path(path_type=Path), metavar="DIR", help="Save the figures as PNG, SVG, PDF.")
@no_cache_option
@output_options
@click.pass_context
def command(  # noqa: PLR0915 - a third of the statements are imports, made only when it runs
    context: click.Context,
    predictions: Path,
    dataset: str | None,
    annotations: Path | None,
    split: str | None,
    data_dir: Path | None,
    fit_split: str | None,
    fit_annotations: Path | None,
    engine: str,
    select_split: str | None,
    iid: Path | None,
    iid_split: str,
    shuffled: Path | None,
    text_only: Path | None,
    model: Path | None,
    features: str | None,
    measures: str | None,
    protocol: str | None,
    how: PredictionOptions,
    resamples: int,
    permutations: int,
    seed: int,
    gate: str | None,
    html: Path | None,
    open_it: bool,
    figures: Path | None,
    no_cache: bool,
    json_path: Path | None,
    style: Literal["md", "latex"] | None,
    quiet: bool,
) -> None:
    """Hold PREDICTIONS against methods that never see the video.

    \b
    truemoment audit preds.jsonl --dataset charades-cd --split test-ood --html audit.html --open
    truemoment audit preds.jsonl --annotations mine.jsonl --split test --gate better-than-guessing
    truemoment audit preds.jsonl --dataset charades-cd --split test-ood --model runs/tan2d
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    import numpy as np

    from truemoment.auditing import Case, audit, judge, read_gate, settled
    from truemoment.auditing.case import OF_MOMENTS
    from truemoment.evaluation import asked_measures, chosen_protocol
    from truemoment.language import get_engine
    from truemoment.measures import parse_measures
    from truemoment.protocols import get_protocol
    from truemoment.reports import audit as report
    from truemoment.reports.figures import save_figures
    from truemoment.reports.page import page

    # Mistakes in the options are told before files are read.
    conditions = () if gate is None else read_gate(gate)
    refuse_options(html, model, open_it=open_it, features=features)
    read_files = [predictions, annotations, fit_annotations, iid, shuffled, text_only, *files_of(dataset, data_dir)]
    run_files = [] if model is None else files_of_run(model)
    refuse_files({"--figures": figures})
    refuse_outputs([*read_files, *run_files, source_file(features)], [html, json_path])
    get_engine(engine)
    convention = None if protocol is None else get_protocol(protocol)
    if measures is not None:
        parse_measures(measures)
    data = AnnotationSource(dataset, annotations, split, data_dir)
    reference = data.read()
    show = not quiet and sys.stderr.isatty()

    def read(path: Path, of: Annotations):  # type: ignore[no-untyped-def]  # noqa: ANN202 - as read_predictions
        return how.read(path, of, progress=show)

    answers, match = read(predictions, reference)
    train = data.training(reference, fit_split, fit_annotations)
    others = data.other_splits(train)
    selection = next(
        (of for of in others if of.split == "val" and not set(of.query_id) & set(reference.query_id)), None
    )
    if select_split is not None:
        selection = without_queries_of(reference, data.read(select_split), "--select-split")
    on_iid = None
    if iid is not None:
        of_iid = without_queries_of(reference, data.read(iid_split), "--iid-split")
        on_iid = of_iid, read(iid, of_iid)[0]
    convention = chosen_protocol(convention, reference)
    asked = tuple(m for m in asked_measures(measures, convention, reference, answers) if m.needs in OF_MOMENTS)
    with followed(show=show) as tell:
        again = (
            Again() if model is None else ask_again(model, features, data_dir, reference, answers, asked, seed, tell)
        )
    case = Case(
        annotations=reference,
        predictions=answers,
        measures=asked,
        protocol=convention,
        match=match,
        train=train,
        selection=selection,
        others=others,
        iid=on_iid,
        shuffled=None if shuffled is None else read(shuffled, reference)[0],
        text_only=None if text_only is None else read(text_only, reference)[0],
        changed=again.changed,
        caution=" ".join(match.told) or again.caution,
        engine=engine,
        resamples=resamples,
        permutations=permutations,
        cache=floors_cache(no_cache=no_cache),
    )
    source = source_of(predictions, {"iid": iid, "shuffled": shuffled, "text-only": text_only}) | dict(again.source)
    conditions = settled(conditions, case.measures)
    with followed(show=show) as tell:
        found = audit(case, np.random.default_rng(seed), tell)
        outcomes = judge(conditions, found.findings, report.figures_by_name(found))
        tell("writing")
        if html is not None:
            words = shlex.join(["truemoment", *sys.argv[1:]])
            write_text(html, page(found, source=source, seed=seed, outcomes=outcomes, command=words))
        if figures is not None:
            save_figures(found, figures)
    if json_path is not None:
        write_json(json_path, report.document(found, source=source, seed=seed, outcomes=outcomes))
    if json_path != STANDARD_OUTPUT:
        click.echo("\n".join(report.lines(found, source=source, seed=seed, style=style or "plain")))
    for outcome in outcomes:
        said = f"gate {outcome.condition.text}: {'holds' if outcome.passed else 'FAILS'} ({outcome.why})"
        click.echo(printable(said), err=True)
    if html is not None:
        opened = open_it and open_page(html)
        if not quiet:
            click.echo(f"page: {told_path(html)}{' (opened)' if opened else ''}", err=json_path == STANDARD_OUTPUT)
    if not all(outcome.passed for outcome in outcomes):
        context.exit(1)


def refuse_options(html: Path | None, model: Path | None, *, open_it: bool, features: str | None) -> None:
    """Refuse options that need another one."""
    if (open_it and html is None) or html == STANDARD_OUTPUT:
        raise UsageError("--html: expected the name of a file, to write (and open) the page")
    if features is not None and model is None:
        raise UsageError("--features: is what a model looks at, and there is none; give its folder (--model)")


class Again(NamedTuple):
    """What a model answers now.

    Parameters
    ----------
    changed
        By the way videos were changed; empty where there is no model.
    caution
        What must be said of what it looks at.
    source
        Which model it is, as a report tells it.
    """

    changed: Mapping[str, Predictions] = MappingProxyType({})
    caution: str = ""
    source: Mapping[str, Any] = MappingProxyType({})


def ask_again(
    folder: Path,
    features: str | None,
    data_dir: Path | None,
    reference: Annotations,
    answers: Predictions,
    measures: Sequence[Measure],
    seed: int,
    tell: Callable[[str], None],
) -> Again:
    """Ask a trained model the same of original and of changed videos, as many answers a query as were audited."""
    from truemoment.diagnosis.randomised_video import randomised
    from truemoment.floors import answers_a_query
    from truemoment.training.grounder import load_grounder

    tell("loading the model")
    grounder = load_grounder(folder, features=features, data_dir=data_dir)
    top = answers_a_query(answers, measures)
    changed = randomised(grounder, reference.queries, top=top, seed=seed, tell=tell)
    looks_at = grounder.features
    told = {"path": told_path(folder), "name": grounder.name, "features": "" if looks_at is None else looks_at.name}
    return Again(changed, getattr(looks_at, "caution", ""), {"model": told})


def source_of(predictions: Path, beside: Mapping[str, Path | None]) -> dict[str, Any]:
    """Return path and hash of each prediction file: the audited one, and by option those ``beside`` it."""
    from truemoment.files import sha256_of

    files = {option: path for option, path in beside.items() if path is not None}
    found = {option: {"path": told_path(path), "sha256": sha256_of(path)} for option, path in files.items()}
    source = {"path": told_path(predictions), "sha256": sha256_of(predictions)}
    without_frames = found.get("text-only")
    if without_frames is not None and without_frames["sha256"] == source["sha256"]:
        raise UsageError(
            f"--text-only: {without_frames['path']} holds the very answers that are audited, expected those of the "
            "same model without the frames"
        )
    return source | ({"beside": found} if found else {})
