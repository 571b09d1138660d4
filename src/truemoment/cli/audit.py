"""truemoment audit: report whether a model finds the moments or guesses them."""

from __future__ import annotations

from dataclasses import replace

import click

from truemoment.cli import binder
from truemoment.cli.delivery import deliver
from truemoment.cli.outputs import say, show_progress
from truemoment.cli.parts import ModelThreads, Output, PageOutput
from truemoment.studies.audit.request import AuditRequest


@binder.command("audit")
def command(request: AuditRequest, _threads: ModelThreads, page: PageOutput, output: Output) -> None:
    """Compare PREDICTIONS with methods that never see the video.

    \b
    truemoment audit preds.jsonl --dataset charades-cd --split test-ood --html audit.html --open
    truemoment audit preds.jsonl --annotations mine.jsonl --split test --gate better-than-guessing
    truemoment audit preds.jsonl --dataset charades-cd --split test-ood --model runs/tan2d
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.cli.api.audits import run
    from truemoment.studies.audit.report import confident_and_wrong

    with show_progress(request, show=output.progress) as running:
        audit = run(running)
    words = [*request.source.words(), *request.protocol_words()]
    report = replace(audit.report(), browse=confident_and_wrong(str(request.predictions), words))
    deliver(report, audit.document, output, page)
    for outcome in audit.outcomes:
        say(f"gate {outcome.condition.text}: {'passes' if outcome.passed else 'FAILS'} ({outcome.why})", err=True)
    if not audit.passed:
        click.get_current_context().exit(1)
