"""truemoment collect clips: LSMDC's clips in the time of whole films."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from truemoment.base.request import In, Out, Request, argument, option
from truemoment.cli import binder
from truemoment.cli.delivery import deliver
from truemoment.cli.outputs import progress_bar
from truemoment.cli.parts import Output


@dataclass(frozen=True, kw_only=True)
class ClipsRequest(Request):
    """The films and clips."""

    films: In[Path] = argument(metavar="FILM-INDEX")
    clips: In[Path] = argument(metavar="CLIPS")
    annotations: In[Path] = option("Annotations of LSMDC.", metavar="FILE", required=True)
    out: Out[Path] = option("Sentences in MAD's form.", name="-o --out", metavar="FILE", required=True)
    fps: float | None = option("Rows per second of feature files that state none.", metavar="F")


@binder.command("clips")
def command(request: ClipsRequest, output: Output) -> None:
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

    track = progress_bar("films", "film", show=output.progress)
    transfer = transfer_clips(request.films, request.clips, request.annotations, fps=request.fps, track=track)
    write_transfer(request.out, transfer)
    deliver(reports.report(transfer, str(request.out)), lambda: reports.document(transfer), output)
