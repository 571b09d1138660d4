"""truemoment convert: write a prediction file in another format."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from truemoment.cli.options import (
    DataOptions,
    answer_options,
    data_options,
    refuse_outputs,
    told_path,
)
from truemoment.exceptions import UsageError
from truemoment.io.answers.reading import Reading


@click.command("convert")
@click.argument("predictions", type=click.Path(path_type=Path))
@click.option("--to", required=True, metavar="FORMAT", help="Format to write.")
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path), metavar="FILE", help="File to write.")
@data_options
@answer_options
@click.option("--quiet", is_flag=True, help="No notes, and no progress on standard error.")
def command(
    predictions: Path,
    to: str,
    out: Path,
    dataset: str | None,
    annotations: Path | None,
    split: str | None,
    data_dir: Path | None,
    format_: str | None,
    reading: Reading,
    quiet: bool,
) -> None:
    """Write PREDICTIONS in another format; answers in words become moments in seconds.

    With --dataset or --annotations rows are matched to queries first, so that ids, videos and
    sentences that the file lacks stand in the new one, and parts of a video become seconds.

    A pickle is not read, since loading one can run code. Where you trust it, write it as
    JSON Lines yourself: {"query_id": ..., "moments": [[start_s, end_s, score], ...]} a line.

    \b
    truemoment convert submission.jsonl --to csv -o preds.csv
    truemoment convert answers.json --to moment-detr -o preds.jsonl --dataset qvhighlights --split val
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.io import get_format, read_predictions, read_rows, write_predictions, write_rows

    # Mistakes in the options are told before files are read.
    if get_format(to).write is None:
        raise UsageError(f"format {to} is read only")
    refuse_outputs([predictions, annotations], [out])
    show = not quiet and sys.stderr.isatty()
    parsing = None
    if dataset is None and annotations is None:
        rows, why = read_rows(predictions, format_, reading=reading, progress=show)
        write_rows(out, rows, format=to)
        read, n_rows, parsing = rows.format, len(rows), rows.parsing
    else:
        reference = DataOptions(dataset, annotations, split, data_dir).read()
        answers, match = read_predictions(predictions, reference, format=format_, reading=reading, progress=show)
        write_predictions(out, answers, reference, format=to)
        read, why, n_rows, parsing = match.format, match.recognised, match.rows, match.parsing
    if not quiet:
        click.echo(f"{told_path(predictions)}: {read} ({why}); {n_rows:,} rows")
        if parsing is not None:
            counts = ", ".join(f"{count:,} {status}" for status, count in parsing.counts.items() if count)
            click.echo(f"answers in words: {counts}")
        click.echo(f"{told_path(out)}: {to}")
