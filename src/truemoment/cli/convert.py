"""truemoment convert: write a prediction file in another format."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import click

from truemoment.base.errors import UsageError
from truemoment.base.request import In, Out, Request, argument, option
from truemoment.cli import binder
from truemoment.cli.outputs import say
from truemoment.studies.request import Data, ReadingPredictions


@dataclass(frozen=True, kw_only=True)
class ConvertRequest(Request):
    """The file, and the new one."""

    predictions: In[Path] = argument()
    to: str = option("Format to write.", metavar="FORMAT", required=True)
    out: Out[Path] = option("File to write.", name="-o --out", metavar="FILE", required=True)
    quiet: bool = option("No notes, and no progress on standard error.", False)


@binder.command("convert")
def command(request: ConvertRequest, data: Data, reading: ReadingPredictions) -> None:
    """Write PREDICTIONS in another format; answers in words become moments in seconds.

    With --dataset or --annotations, rows are matched to queries first. The new file then has the
    ids, videos and sentences that are missing in the old one, and fractions become seconds.

    Pickles are not read, since loading one can run code. If you trust it, write it as
    JSON Lines: {"query_id": ..., "moments": [[start_s, end_s, score], ...]} a line.

    \b
    truemoment convert submission.jsonl --to csv -o preds.csv
    truemoment convert answers.json --to moment-detr -o preds.jsonl --dataset qvhighlights --split val
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.data.formats import get_format, match_rows, read_rows, write_predictions, write_rows
    from truemoment.data.formats.naming import spellings
    from truemoment.studies.evaluate.report import read_in_words

    # Mistakes in the options are refused before files are read.
    if get_format(request.to).write is None:
        raise UsageError(f"format {request.to} is read only")
    show = not request.quiet and sys.stderr.isatty()
    rows, why = read_rows(request.predictions, reading.format, reading=reading.how.reading, progress=show)
    matched = data.dataset is not None or data.source.annotations is not None
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
    named = get_format(rows.format)
    names_files = any(name is not None and spellings(name)[1] != name for name in rows.video_id)
    loose = not matched and (named.numbers_queries or names_files)
    if not request.quiet:
        say(f"{request.predictions}: {rows.format} ({why}); {len(rows):,} rows")
        if rows.parsing is not None:
            click.echo(read_in_words(rows.parsing))
        say(f"{request.out}: {request.to}")
        if loose:
            say(
                f"note: {rows.format} names videos or queries in its own way, and so does the new file; with "
                "--dataset or --annotations it names them as these do",
                err=True,
            )
