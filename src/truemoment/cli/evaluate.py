"""truemoment evaluate: measure predictions."""

from __future__ import annotations

from dataclasses import replace

from truemoment.cli import binder
from truemoment.cli.delivery import deliver
from truemoment.cli.parts import Output, PageOutput
from truemoment.studies.evaluate.request import Evaluate


@binder.command("evaluate")
def command(request: Evaluate, page: PageOutput, output: Output) -> None:
    """Measure PREDICTIONS against the annotations of a split.

    \b
    truemoment evaluate preds.jsonl --dataset charades-cd --split test-ood --data-dir data
    truemoment evaluate preds.jsonl --annotations mine.jsonl --measures "R@1,IoU=0.5; AxIoU@10"
    truemoment evaluate preds.jsonl --annotations mine.jsonl --calibration --html page.html
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.studies.evaluate.run import run

    evaluation = run(replace(request, progress=output.progress))
    deliver(evaluation.report(), evaluation.document, output, page)
