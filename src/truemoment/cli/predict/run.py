"""truemoment predict run: predict with a run of truemoment train."""

from __future__ import annotations

from typing import Any

import click

from truemoment.cli import binder
from truemoment.cli.delivery import deliver_log
from truemoment.cli.outputs import say
from truemoment.cli.parts import ModelThreads, Output
from truemoment.learning.training.progress import unseen
from truemoment.learning.training.request import PredictRequest


@binder.command("run")
def command(request: PredictRequest, _threads: ModelThreads, output: Output) -> None:
    """Predict with RUN, a folder made by truemoment train.

    \b
    truemoment predict run runs/tan2d --dataset charades-cd --split test-ood -o preds.jsonl
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.cli.api.runs import predict_by
    from truemoment.learning.training.film_parts import parts_folder

    def track(items: Any, what: str) -> Any:  # noqa: ANN401 - a progress bar
        from tqdm import tqdm

        return tqdm(items, desc=what, leave=False)

    try:
        prediction = predict_by(request, track if output.progress else unseen)
    except KeyboardInterrupt:
        if parts_folder(request.file).is_dir():
            click.echo("truemoment: finished parts are saved; the same command resumes from there", err=True)
        raise
    deliver_log(prediction.report(), prediction.document, output)
    for note in prediction.notes if not output.quiet else ():
        say(f"note: {note}", err=True)
