"""truemoment compare: compare methods on the same queries."""

from __future__ import annotations

from truemoment.cli import binder
from truemoment.cli.delivery import deliver
from truemoment.cli.outputs import show_progress
from truemoment.cli.parts import Output, PageOutput, Threads
from truemoment.studies.compare.request import CompareRequest


@binder.command("compare")
def command(request: CompareRequest, _threads: Threads, page: PageOutput, output: Output) -> None:
    """Compare methods on a split: paired, with intervals and corrected p-values.

    The name of a method is the name of its file, or NAME where NAME=FILE is given. Files with the
    same NAME are runs of one method, such as seeds: their mean is compared, and their spread is
    shown. Where there is a training split, the sentence network, which never sees a video, is a
    method too.

    \b
    truemoment compare ours.jsonl base.jsonl --dataset charades-cd --split test-ood --data-dir data
    truemoment compare ours=1.jsonl ours=2.jsonl base=b.jsonl --against base --annotations mine.jsonl
    truemoment compare ours.jsonl b.jsonl --annotations mine.jsonl --on test-iid ours=iid.jsonl
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.studies.compare.run import run

    with show_progress(request, show=output.progress) as running:
        comparison = run(running)
    deliver(comparison.report(), comparison.document, output, page)
