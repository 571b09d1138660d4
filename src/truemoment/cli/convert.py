"""truemoment convert: write predictions or references in another format."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from truemoment.base.errors import UsageError
from truemoment.base.request import In, Out, Request, argument, option
from truemoment.cli import binder
from truemoment.cli.outputs import say
from truemoment.report.words import counted
from truemoment.studies.request import MappedData, ReadingPredictions

if TYPE_CHECKING:
    from truemoment.data.datasets.source import AnnotationSource


@dataclass(frozen=True, kw_only=True)
class ConvertRequest(Request):
    """The file, and the new one."""

    file: In[Path | None] = argument(metavar="[FILE]", required=False)
    references: bool = option("FILE has references (annotations), not predictions.", False)
    to: str = option("Format to write.", metavar="FORMAT", required=True)
    out: Out[Path] = option("File to write.", name="-o --out", metavar="FILE", required=True)
    quiet: bool = option("No notes, and no progress on standard error.", False)


@binder.command("convert")
def command(request: ConvertRequest, data: MappedData, reading: ReadingPredictions) -> None:
    """Write the predictions of FILE in another format; answers in words become moments in seconds.

    With --dataset or --annotations, rows are matched to queries first. The new file then has the
    ids, videos and sentences that are missing in the old one, and fractions become seconds.

    With --references, FILE has annotations in any form that TrueMoment reads (or --dataset names them), and
    --to is own, qvhighlights, activitynet, charades-sta or csv. What the new form cannot represent is reported.

    Pickles are not read, since loading one can run code. If you trust it, write it as
    JSON Lines: {"query_id": ..., "moments": [[start_s, end_s, score], ...]} a line.

    \b
    truemoment convert submission.jsonl --to csv -o preds.csv
    truemoment convert answers.json --to moment-detr -o preds.jsonl --dataset qvhighlights --split val
    truemoment convert kitchen.eaf --references --to own -o annotations.jsonl --videos videos
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.data.formats import get_format, match_rows, read_rows, write_predictions, write_rows
    from truemoment.data.formats.naming import spellings
    from truemoment.studies.evaluate.report import read_in_words

    if request.references:
        _convert_references(request, data.source)
        return
    if request.file is None:
        raise UsageError("which predictions? give FILE")
    # Mistakes in the options are refused before files are read.
    if get_format(request.to).write is None:
        raise UsageError(f"format {request.to} is read only")
    how, show = reading.how, not request.quiet and sys.stderr.isatty()
    rows, why = read_rows(request.file, reading.format, reading=how.reading, fields=how.fields, progress=show)
    matched = data.dataset is not None or data.source.annotations is not None
    if not matched and data.fields is not None:
        raise UsageError("--fields maps the columns of annotations; --prediction-fields those of FILE")
    if not matched:
        write_rows(request.out, rows, format=request.to, on_negative=reading.on_negative)
    else:
        reference = data.source.read()
        answers, match = match_rows(
            rows, why, reference, on_unknown=reading.on_unknown, on_negative=reading.on_negative
        )
        made_by = rows.header.get("made_by")
        write_predictions(
            request.out, answers, reference, format=request.to, made_by=made_by if isinstance(made_by, dict) else None
        )
        why = match.recognised
    how.save()
    named = get_format(rows.format)
    names_files = any(name is not None and spellings(name)[1] != name for name in rows.video_id)
    loose = not matched and (named.numbers_queries or names_files)
    if not request.quiet:
        say(f"{request.file}: {rows.format} ({why}); {counted(len(rows), 'row')}")
        if rows.parsing is not None:
            click.echo(read_in_words(rows.parsing))
        say(f"{request.out}: {request.to}")
        if loose:
            say(
                f"note: {rows.format} names videos or queries in its own way, and so does the new file; with "
                "--dataset or --annotations it names them as these do",
                err=True,
            )


def _convert_references(request: ConvertRequest, source: AnnotationSource) -> None:
    """Write annotations in another form, and report what it cannot represent."""
    from truemoment.data.datasets.all_splits import splits_of_file
    from truemoment.data.references import get_form, losses, recognise, splits_of, write_annotations, write_splits

    form = get_form(request.to)
    if request.file is not None:
        if source.dataset is not None or source.annotations is not None:
            raise UsageError("got FILE and --dataset or --annotations, expected one of them")
        source = replace(source, annotations=request.file)
    file = source.annotations
    annotations = source.read()
    names = sorted(splits_of(file, source.how)) if file is not None and source.split is None else []
    if names and file is not None and "split" in form.holds:
        write_splits(request.out, splits_of_file(file, how=source.how).splits.values())
    else:
        write_annotations(request.out, annotations, request.to)
    if request.quiet:
        return
    title = f"{source.dataset}/{source.split}"
    if file is not None:
        recognised, why = recognise(file, source.how)
        title = f"{file}: {recognised.name} ({why})"
    n_moments = len(annotations) - int(annotations.without_moment.sum())
    say(f"{title}; {counted(annotations.n_queries, 'query', 'queries')}, {counted(n_moments, 'moment')}")
    say(f"{request.out}: {request.to}")
    lost = list(losses(annotations, form))
    if names and "split" not in form.holds:
        lost.append(f"the splits are lost ({', '.join(names)}); --split NAME writes one")
    for text in lost:
        say(f"note: {text}", err=True)
