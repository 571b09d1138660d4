"""truemoment resplit: split a dataset again, so that guessing where moments usually are helps less."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from truemoment.base.errors import UsageError
from truemoment.cli import binder
from truemoment.cli.delivery import deliver
from truemoment.cli.outputs import STANDARD_OUTPUT, say, show_progress
from truemoment.cli.parts import Output, PageOutput, Threads
from truemoment.studies.bias.request_resplit import ResplitRequest


@binder.command("resplit")
def command(request: ResplitRequest, _threads: Threads, page: PageOutput, output: Output) -> None:
    """Split a dataset again into train, val, test-iid and test-ood, in a folder that can be used as a dataset.

    Every floor of the audit is fitted on the new train and measured on the new tests, to show what guessing still
    reaches.

    \b
    truemoment resplit --annotations mine.jsonl -o mine-cd
    truemoment audit preds.jsonl --dataset mine-cd --split test-ood
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.studies.bias.run_resplit import run

    for option, path in (("--json", output.json_path), ("--html", page.html), ("--figures", page.figures)):
        if path is None or path == STANDARD_OUTPUT:
            continue
        real = Path(os.path.realpath(path))
        if Path(os.path.realpath(request.out)) in (real, real.parent):
            raise UsageError(f"{option} {path}: is in the new folder, expected another place")
    with show_progress(request, show=output.progress) as running:
        run(
            running,
            command=shlex.join(["truemoment", *sys.argv[1:]]),
            note=lambda line: say(line, err=True),
            on_complete=lambda result: deliver(result.report(), result.document, output, page),
        )
    if not output.quiet:
        out = str(Path(request.out))
        say(f"written to {out}: use it as --dataset {out}", err=True)
