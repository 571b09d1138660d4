"""truemoment predict: the moments of a split's queries, from a trained run or a served model, a file a sub-command."""

from __future__ import annotations

from types import MappingProxyType

import click

from truemoment.cli.group import LazyGroup

WAYS = MappingProxyType(
    {
        "run": "Predict with a run of truemoment train.",
        "endpoint": "Predict with a served model.",
        "prompts": "Predict with several prompts of a served model, and compare them.",
    }
)


@click.group("predict", cls=LazyGroup, package="truemoment.cli.predict", verbs=WAYS)
def command() -> None:
    """Predict when things happen in videos.

    \b
    truemoment predict run runs/tan2d --dataset charades-cd --split test-ood -o preds.jsonl
    truemoment predict endpoint http://localhost:8000/v1 --model qwen -o answers.jsonl ...
    truemoment predict prompts http://localhost:8000/v1 seconds clock mine.toml --model qwen ...
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
