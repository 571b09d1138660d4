"""truemoment collect clips: LSMDC's clips in the time of whole films."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver
from truemoment.cli.groups import Output, output_options
from truemoment.cli.options import FILE, refuse_outputs


@click.command("clips", cls=Command)
@click.argument("films", metavar="FILM-INDEX", type=FILE)
@click.argument("clips", metavar="CLIPS", type=FILE)
@click.option("--annotations", type=FILE, required=True, metavar="FILE", help="Annotations of LSMDC.")
@click.option("-o", "--out", type=FILE, required=True, metavar="FILE", help="Sentences in MAD's form.")
@click.option("--fps", type=float, metavar="F", help="Rows per second of feature files that state none.")
@output_options
def command(films: Path, clips: Path, annotations: Path, out: Path, fps: float | None, output: Output) -> None:
    """Find the clips of LSMDC in their films by what they show, and write their sentences in film time.

    FILM-INDEX and CLIPS are indexes (truemoment index --fps 5) or feature files. A clip is called
    FILM_HH.MM.SS.mmm-HH.MM.SS.mmm, and FILM is the name of the film.

    \b
    truemoment index films -o films.index --fps 5
    truemoment index clips -o clips.index --fps 5
    truemoment collect clips films.index clips.index --annotations LSMDC16_annos_val.csv -o MAD_val.json
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.collection import report_transfer as reports
    from truemoment.collection.transfer import transfer_clips, write_transfer

    refuse_outputs([films, clips, annotations], [out, output.json_path])
    found = transfer_clips(films, clips, annotations, fps=fps, track=_with_bar if output.progress else list)
    write_transfer(out, found)
    deliver(reports.report(found, str(out)), lambda: reports.document(found), output)


def _with_bar(films: list[str]) -> Iterable[str]:
    from tqdm import tqdm

    return tqdm(films, desc="films", leave=False)
