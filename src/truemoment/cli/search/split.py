"""truemoment search split: the moments of every query of a split."""

from __future__ import annotations

from truemoment.cli import binder
from truemoment.cli.delivery import deliver_log, suggest
from truemoment.cli.outputs import progress_bar
from truemoment.cli.parts import Output, Threads
from truemoment.cli.search.parts import target_of
from truemoment.searching.request import SplitSearch


@binder.command("split")
def command(request: SplitSearch, _threads: Threads, output: Output) -> None:
    """Predict every query of a split, for truemoment evaluate.

    INDEX is made by truemoment index. FEATURES are frame vectors of others, with --sentences.

    \b
    truemoment search split videos.index --annotations mine.jsonl -o preds.jsonl
    truemoment search split frames.h5 --sentences sentences.h5 --dataset mad --split test -o preds.jsonl
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.searching import report as reports
    from truemoment.searching.split_search import search_split

    track = progress_bar("searching", "video", show=output.progress)
    prediction = search_split(request, target_of(request, request.target, quiet=output.quiet), track=track)
    deliver_log(reports.report_of_split(prediction), lambda: reports.document_of_split(prediction), output)
    words = ["truemoment", "evaluate", str(request.out), *request.source.words()]
    words += ["--protocol", "mad-clip,nms_threshold=none"] if request.dataset == "mad" else []
    suggest("measure them:", words, output)
