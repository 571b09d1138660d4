"""truemoment search sweep: search measured on chunks of growing length."""

from __future__ import annotations

from truemoment.cli import binder
from truemoment.cli.delivery import deliver
from truemoment.cli.outputs import status_line
from truemoment.cli.parts import Output, PageOutput, Threads
from truemoment.cli.search.parts import target_of
from truemoment.searching.request import ChunkSearch


@binder.command("sweep")
def command(request: ChunkSearch, _threads: Threads, page: PageOutput, output: Output) -> None:
    """Measure search on chunks of several lengths: how much of the difficulty is the length of the videos.

    Videos are cut into chunks. Each query is searched in the chunk that its moment overlaps most, and 100
    moments are predicted.

    \b
    truemoment search sweep videos.index --annotations mine.jsonl --figures figures
    truemoment search sweep frames.h5 --sentences sentences.h5 --dataset mad --split test
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.searching import report_length_sweep as reports
    from truemoment.searching.chunk_sweep import sweep_split

    with status_line(show=output.progress) as on_status:
        sweep = sweep_split(request, target_of(request, request.target, quiet=output.quiet), on_status=on_status)
    deliver(reports.report(sweep), lambda: reports.document(sweep), output, page)
