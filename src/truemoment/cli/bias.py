"""truemoment bias: the location, verb and duration biases of datasets."""

from __future__ import annotations

from truemoment.cli import binder
from truemoment.cli.delivery import deliver
from truemoment.cli.outputs import show_progress
from truemoment.cli.parts import Output, PageOutput, Threads
from truemoment.studies.bias.request import BiasRequest


@binder.command("bias")
def command(request: BiasRequest, _threads: Threads, page: PageOutput, output: Output) -> None:
    """Report the location, verb and duration biases of datasets.

    \b
    truemoment bias --dataset charades-sta --dataset tacos --data-dir data --html bias.html --open
    truemoment bias --annotations mine.jsonl --json -
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.studies.bias.run import run

    with show_progress(request, show=output.progress) as running:
        survey = run(running)
    deliver(survey.report(), survey.document, output, page)
