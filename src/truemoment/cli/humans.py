"""truemoment humans: agreement of several annotators, what they score, and which conclusions they confirm."""

from __future__ import annotations

from dataclasses import replace

from truemoment.cli import binder
from truemoment.cli.delivery import deliver
from truemoment.cli.parts import Output, PageOutput
from truemoment.studies.humans.request import HumansRequest


@binder.command("humans")
def command(request: HumansRequest, page: PageOutput, output: Output) -> None:
    """Measure annotators against references and each other, and PREDICTIONS beside them.

    With two or more systems it reports which differences annotators confirm.

    \b
    truemoment humans --dataset human-charades --split test --data-dir data
    truemoment humans ours=a.jsonl base=b.jsonl --dataset human-charades --split test --data-dir data
    truemoment humans --annotations marked.jsonl --official-annotations mine.jsonl --html humans.html
    truemoment humans --annotations marked/answers.jsonl --html humans.html --open
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.studies.humans.run import run

    result = run(replace(request, progress=output.progress))
    deliver(result.report(), result.document, output, page)
