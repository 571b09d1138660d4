"""truemoment compare: compare methods on the same queries."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from truemoment.cli.delivery import deliver
from truemoment.cli.groups import (
    Fitting,
    Measuring,
    Output,
    PageOutput,
    data_options,
    fitting_options,
    measuring_options,
    output_options,
    page_options,
    testing_options,
)
from truemoment.cli.options import FILE, NamedFile, PredictionOptions, reading_options, refuse_outputs, status_line
from truemoment.datasets.source import AnnotationSource
from truemoment.exceptions import UsageError
from truemoment.reports.words import counted
from truemoment.uncertainty import DrawSettings


@click.command("compare")
@click.argument("predictions", nargs=-1, required=True, metavar="[NAME=]PREDICTIONS...")
@data_options
@measuring_options
@click.option(
    "--against", metavar="NAME", help="Compare with this method (and the sentence network) only. [default: all pairs]"
)
@reading_options
@fitting_options
@testing_options
@click.option(
    "--published", type=FILE, metavar="DIR|FILE.csv", help="Published figures to show below ours, as tidy CSV."
)
@page_options
@output_options
def command(
    predictions: tuple[str, ...],
    data: AnnotationSource,
    measuring: Measuring,
    against: str | None,
    how: PredictionOptions,
    fitting: Fitting,
    testing: DrawSettings,
    published: Path | None,
    page: PageOutput,
    output: Output,
) -> None:
    """Compare methods on a split: paired, with intervals and corrected p values.

    The name of a method is the name of its file, or NAME where NAME=FILE is given. Files with the
    same NAME are runs of one method, such as seeds: their mean is compared, and their spread is
    shown. Where there is a training split, the sentence network, which never sees a video, is a
    method too.

    \b
    truemoment compare ours.jsonl base.jsonl --dataset charades-cd --split test-ood --data-dir data
    truemoment compare ours=1.jsonl ours=2.jsonl base=b.jsonl --against base --annotations mine.jsonl
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.compared_files import check_methods, compare_files, training_split
    from truemoment.reports import comparison as reports

    files = files_by_method(predictions)  # mistakes in the options are refused before files are read
    inputs = [fitting.fit_annotations, published, *data.files(), *(path for paths in files.values() for path in paths)]
    refuse_outputs(inputs, [page.html, output.json_path])
    page.refuse()
    network = fitting.fit_split != "none"
    check_methods(list(files), against, network=network)
    measures, protocol = measuring.parsed_measures(), measuring.parsed_protocol()
    annotations = data.read()
    with status_line(show=output.progress) as on_status:
        found = compare_files(
            files,
            annotations,
            train=training_split(data, annotations, fitting.fit_split, fitting.fit_annotations),
            network=network,
            measures=measures,
            protocol=protocol,
            against=against,
            published=published,
            testing=testing,
            read=how.read,
            cache=fitting.cache(),
            progress=output.progress,
            on_status=on_status,
        )
    deliver(reports.report(found), lambda: reports.document(found), output, page)


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
            raise UsageError(f"{path} is given twice under the name {name!r}, expected each run once")
        of_method.append(path)
        if len(of_method) > 1 and name in unnamed:
            raise UsageError(
                f"{of_method[0]} and {path} would both have the name {name!r}; give NAME=FILE: one name for runs of "
                "one method, two for two methods"
            )
    if len(files) < 2:
        (name,) = files
        raise UsageError(
            f"got one method ({name}, {counted(len(files[name]), 'file')}), expected two or more; give files of "
            "different methods different names, as in ours=a.jsonl base=b.jsonl"
        )
    return files
