"""truemoment convert: write a prediction file in another format."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from truemoment.base.errors import UsageError
from truemoment.cli.command import Command
from truemoment.cli.groups import data_options
from truemoment.cli.options import FILE, PredictionOptions, reading_options, refuse_outputs, say
from truemoment.data.datasets.source import AnnotationSource


@click.command("convert", cls=Command)
@click.argument("predictions", type=FILE)
@click.option("--to", required=True, metavar="FORMAT", help="Format to write.")
@click.option("-o", "--out", required=True, type=FILE, metavar="FILE", help="File to write.")
@data_options
@reading_options
@click.option("--quiet", is_flag=True, help="No notes, and no progress on standard error.")
def command(
    predictions: Path,
    to: str,
    out: Path,
    data: AnnotationSource,
    how: PredictionOptions,
    quiet: bool,
) -> None:
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
    from truemoment.studies.evaluate.report import read_in_words

    # Mistakes in the options are refused before files are read.
    if get_format(to).write is None:
        raise UsageError(f"format {to} is read only")
    refuse_outputs([predictions, *data.files()], [out])
    show = not quiet and sys.stderr.isatty()
    rows, why = read_rows(predictions, how.format, reading=how.reading, progress=show)
    matched = data.dataset is not None or data.annotations is not None
    if not matched:
        write_rows(out, rows, format=to, on_negative=how.on_negative)
    else:
        reference = data.read()
        answers, match = match_rows(rows, why, reference, on_unknown=how.on_unknown, on_negative=how.on_negative)
        made_by = rows.header.get("made_by")
        write_predictions(out, answers, reference, format=to, made_by=made_by if isinstance(made_by, dict) else None)
        why = match.recognised
    named = get_format(rows.format)
    loose = not matched and (named.videos != "ids" or named.numbers_queries)
    if not quiet:
        say(f"{predictions}: {rows.format} ({why}); {len(rows):,} rows")
        if rows.parsing is not None:
            click.echo(read_in_words(rows.parsing))
        say(f"{out}: {to}")
        if loose:
            click.echo(
                f"note: {rows.format} names videos or queries in its own way, and so does the new file; with "
                "--dataset or --annotations it names them as these do",
                err=True,
            )
