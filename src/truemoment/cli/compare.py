"""truemoment compare: hold methods against each other on the same queries."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import click

from truemoment.cli.options import (
    STANDARD_OUTPUT,
    NamedFile,
    PredictionOptions,
    data_options,
    floors_cache,
    followed,
    measuring_options,
    no_cache_option,
    output_options,
    reading_options,
    refuse_outputs,
    seed_option,
    testing_options,
    told_path,
    train_options,
    write_json,
)
from truemoment.datasets.source import AnnotationSource, files_of
from truemoment.exceptions import InputError, MissingFileError, UsageError
from truemoment.io import MatchReport
from truemoment.records import Annotations, Predictions
from truemoment.text import printable


@click.command("compare")
@click.argument("predictions", nargs=-1, required=True, metavar="[NAME=]PREDICTIONS...")
@data_options
@train_options
@measuring_options
@click.option(
    "--against", metavar="NAME", help="Compare with this method (and the sentence network) only. [default: all pairs]"
)
@reading_options
@testing_options
@seed_option("all draws")
@click.option(
    "--published",
    "published_path",
    type=click.Path(path_type=Path),
    metavar="DIR|FILE.csv",
    help="Published figures to set beside, as tidy CSV.",
)
@no_cache_option
@output_options
def command(  # noqa: PLR0915 - a third of the statements are imports, made only when it runs
    predictions: tuple[str, ...],
    dataset: str | None,
    annotations: Path | None,
    split: str | None,
    data_dir: Path | None,
    fit_split: str | None,
    fit_annotations: Path | None,
    protocol: str | None,
    measures: str | None,
    against: str | None,
    how: PredictionOptions,
    resamples: int,
    permutations: int,
    seed: int,
    published_path: Path | None,
    no_cache: bool,
    json_path: Path | None,
    style: Literal["md", "latex"] | None,
    quiet: bool,
) -> None:
    """Compare methods on a split: paired, with intervals and corrected p values.

    A method is called as its file is, or NAME where NAME=FILE is given. Files of one NAME are runs
    of one method, such as seeds: their mean is compared, and their spread is shown. Where there is
    a training split, the sentence network, which never sees a video, is a method too.

    \b
    truemoment compare ours.jsonl base.jsonl --dataset charades-cd --split test-ood --data-dir data
    truemoment compare ours=1.jsonl ours=2.jsonl base=b.jsonl --against base --annotations mine.jsonl
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    import numpy as np

    from truemoment.comparison import compare, published_beside, read_published
    from truemoment.equal_depth import answers_compared, equal_depths, evaluate_to_depths
    from truemoment.evaluation import asked_measures, chosen_protocol, evaluate
    from truemoment.floors import MOST_ANSWERS, NETWORK, Setting, headline_of
    from truemoment.measures import parse_measures
    from truemoment.network_row import run_network, why_no_network
    from truemoment.protocols import get_protocol
    from truemoment.reports import comparison as report
    from truemoment.reports.evaluation import Evaluation
    from truemoment.uncertainty import stream

    # Mistakes in the options are told before files are read.
    files = files_by_method(predictions)
    runs_of_all = [path for paths in files.values() for path in paths]
    refuse_outputs(
        [annotations, fit_annotations, published_path, *files_of(dataset, data_dir), *runs_of_all], [json_path]
    )
    if NETWORK in files and fit_split != "none":
        raise UsageError(
            f"got a method called {NETWORK!r}, as the blind baseline is that is compared with; give NAME=FILE with "
            "another name, or --fit-split none"
        )
    if against not in (None, NETWORK, *files):
        raise UsageError(f"--against: got {against!r}, expected one of {', '.join(files)}, or {NETWORK}")
    asked_protocol = None if protocol is None else get_protocol(protocol)
    asked = None if measures is None else parse_measures(measures)
    published = None if published_path is None else read_published(published_path)
    data = AnnotationSource(dataset, annotations, split, data_dir)
    reference = data.read()
    show = not quiet and sys.stderr.isatty()

    answers = {method: [how.read(path, reference, progress=show) for path in paths] for method, paths in files.items()}
    longest = {method: [int(of.lengths.max(initial=0)) for of, _ in of_method] for method, of_method in answers.items()}
    convention = chosen_protocol(asked_protocol, reference)
    of_files = [asked_measures(asked, convention, reference, of) for runs in answers.values() for of, _ in runs]
    most = max(of_files, key=len)
    wanted = tuple(measure for measure in most if all(measure in of_file for of_file in of_files))
    remarks = [f"{measure} is left out: not every file rates clips" for measure in most if measure not in wanted]
    reach = [depth for of_method in longest.values() for depth in of_method]
    train = train_of(data, reference, fit_split, fit_annotations)
    why = why_no_network(reference, wanted, train)
    depths = equal_depths(wanted, [*reach, *([] if why else [MOST_ANSWERS])], convention)
    network = None
    drawn = int(np.random.default_rng(seed).integers(1 << 62))  # as in an audit, so that the network is the same
    if train is not None and not why:
        setting = Setting(
            annotations=reference,
            measures=wanted,
            protocol=convention,
            headline=headline_of(wanted),
            top=answers_compared(wanted, [*reach, MOST_ANSWERS], convention),
            seed=drawn,
            cache=floors_cache(no_cache=no_cache),
        )
        try:
            with followed(show=show) as tell:
                network = run_network(replace(setting, on_status=tell), train, depths)
        except InputError as error:
            why = f"it could not be fitted: {error}"
    if why and against == NETWORK:
        raise UsageError(f"--against {NETWORK}: it is not compared with: {why}")
    if why and fit_split != "none":
        remarks.append(f"{NETWORK} is not compared with: {why}")

    def measured(path: Path, of: Predictions, match: MatchReport, depth: int) -> Evaluation:
        scores = evaluate_to_depths(reference, of, wanted, depths, convention, progress=show)
        return Evaluation(scores, scores.measured(), match, source=source_of(path), depth=depth)

    runs = {
        method: [
            measured(path, *read, depth)
            for path, read, depth in zip(paths, answers[method], longest[method], strict=True)
        ]
        for method, paths in files.items()
    }
    beside = {}
    if network is not None:
        for method, of_method in answers.items():
            hits = [evaluate(reference, of, [network.hit], convention) for of, _ in of_method]
            rng = stream(drawn, "excess-where-blind-misses")  # as in an audit; the same draws for every method
            beside[method] = network.beside(hits, rng, resamples=resamples)

    scores = {method: [run.scores for run in of_method] for method, of_method in runs.items()}
    comparison = compare(
        scores if network is None else {**scores, NETWORK: network.runs},
        np.random.default_rng(seed),
        baseline=against,
        blind=None if network is None else NETWORK,
        resamples=resamples,
        permutations=permutations,
        progress=show,
    )
    compared = report.ComparedFiles(
        comparison=comparison,
        runs=runs,
        published=None if published is None else published_beside(published, comparison.first),
        published_sources=[source_of(path) for path in dict.fromkeys(figure.path for figure in published or ())],
        seed=seed,
        depths=depths,
        remarks=remarks,
        network=network,
        beside=beside,
    )
    if json_path is not None:
        write_json(json_path, report.document(compared))
    table_only = style is not None
    if json_path != STANDARD_OUTPUT:
        if not table_only:
            click.echo("\n".join(map(printable, report.preamble(compared))) + "\n")
        made = (report.table, report.differences, report.hits_beside_network)
        click.echo("\n\n".join(filter(None, (of(compared, style=style or "plain") for of in made))))
    if not quiet:
        to_error = table_only or json_path == STANDARD_OUTPUT
        said = [printable(f"note: {line}") for line in report.notes(compared)]
        said += map(printable, report.closing(compared))
        click.echo("\n".join(said if to_error else ["", *said]), err=to_error)


def train_of(
    data: AnnotationSource, reference: Annotations, split: str | None, file: Path | None
) -> Annotations | None:
    """Read what the sentence network is fitted on; None where nothing is asked for and no training split is at hand."""
    try:
        return data.training(reference, split, file)
    except MissingFileError:
        if split is not None or file is not None:
            raise
        return None


def source_of(path: Path) -> dict[str, str]:
    """Path of a file, as text that JSON holds, and the hash of its bytes."""
    from truemoment.files import sha256_of

    return {"path": told_path(path), "sha256": sha256_of(path)}


def files_by_method(words: Sequence[str]) -> dict[str, list[Path]]:
    """Read the arguments, FILE or NAME=FILE: the runs of each method."""
    files: dict[str, list[Path]] = {}
    unnamed: set[str] = set()
    for named in map(NamedFile.read, words):
        name, path = named.name, named.path
        if not named.given:
            unnamed.add(name)
        of_method = files.setdefault(name, [])
        if os.path.realpath(path) in map(os.path.realpath, of_method):  # pathlib's raises at a loop of links
            raise UsageError(f"{path} stands twice under the name {name!r}, expected each run once")
        of_method.append(path)
        if len(of_method) > 1 and name in unnamed:
            raise UsageError(
                f"{of_method[0]} and {path} would both be called {name!r}; give NAME=FILE: one name for runs of one "
                "method, two for two methods"
            )
    if len(files) < 2:
        (name,) = files
        n_files = f"{len(files[name])} file{'' if len(files[name]) == 1 else 's'}"
        raise UsageError(
            f"got one method ({name}, {n_files}), expected two or more; files of different methods "
            "are given different names, as in ours=a.jsonl base=b.jsonl"
        )
    return files
