"""truemoment convert-checkpoint: a run of weights that the authors of a method published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from truemoment.cli import binder
from truemoment.cli.outputs import say
from truemoment.learning.training.request import CheckpointRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from truemoment.learning.training.conversion import PublishedCheckpoint


@binder.command("convert-checkpoint")
def command(request: CheckpointRequest) -> None:
    """Make a run of FILE, a checkpoint that the authors of Moment-DETR, QD-DETR or FlashVTG published.

    The run predicts, is audited, and is trained further as one of "truemoment train". Nothing in FILE runs: a
    file that names anything but tensors, plain values and argparse.Namespace is refused.

    \b
    truemoment convert-checkpoint model_best.ckpt --model qd-detr -o runs/qd-detr \\
        --features slowfast_features,clip_features --queries clip_text_features
    truemoment predict run runs/qd-detr --dataset qvhighlights --split val -o preds.jsonl
    truemoment audit preds.jsonl --dataset qvhighlights --split val --model runs/qd-detr
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.learning.training.checkpoints import write_tensors
    from truemoment.learning.training.conversion import PublishedCheckpoint, write_run

    checkpoint = PublishedCheckpoint.read(request.file, request.model)
    recipe = checkpoint.recipe(request.set)
    if request.safetensors is not None:
        write_tensors(request.safetensors, checkpoint.network(recipe).model.state_dict())
    if request.out is not None:
        sources = {"features": request.features or "", "queries": str(request.queries or "")}
        write_run(checkpoint, recipe, request.out, **sources)
    for line in () if request.quiet else _lines(request, checkpoint):
        say(line)


def _lines(request: CheckpointRequest, checkpoint: PublishedCheckpoint) -> Iterator[str]:
    """Yield what was read and written."""
    n_numbers = sum(tensor.numel() for tensor in checkpoint.tensors.values())
    yield f"{request.file}: {request.model}, {len(checkpoint.tensors)} tensors, {n_numbers:,} numbers"
    yield f"features: {checkpoint.n_dimensions:,} numbers a row; words: {checkpoint.n_vector:,}"
    yield f"written: {request.out or request.safetensors}"
    yield from (f"note: {note}" for note in checkpoint.notes)
    if checkpoint.unused:
        yield f"note: left out, since no answer depends on them: {', '.join(checkpoint.unused)}"
