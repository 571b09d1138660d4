"""Variants of one method, saved as per-query statistics for studies of model selection.

The AxIoU paper (Togashi et al. 2022, sections 6.1 and 6.6) chose among 640 variants of 2D-TAN that differ in learning
rate, suppression, and whether the videos' segments are put in another order ("rand", after Otani et al. 2020). Here a
variant is a learning rate, an epoch, original or shuffled videos, and a threshold of suppression. Each network scores
each split once; a threshold only decodes again.

::

    FOLDER/runs/lr0.001/                  a training run a learning rate, the weights of each of its epochs kept
    FOLDER/val/lr0.001-epoch2-nms0.45.npz         scores of a variant, one folder a split
    FOLDER/test-ood/lr0.001-epoch2-nms0.45-shuffled.npz
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import UNSET

from truemoment.base.boundary.files import atomic_write
from truemoment.base.boundary.folders import lock_folder
from truemoment.base.boundary.own_path import OwnPath, open_regular
from truemoment.base.errors import InputError, UsageError
from truemoment.base.records import Annotations
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measures
from truemoment.learning.models.decoding import as_predictions, on_grid
from truemoment.learning.training import checkpoints
from truemoment.learning.training.answering import pairs_to_answer, score
from truemoment.learning.training.checkpoints import Epoch
from truemoment.learning.training.epochs import epoch_folder
from truemoment.learning.training.examples import Pairs
from truemoment.learning.training.grounding import TrainedGrounder
from truemoment.learning.training.performing import perform, refuse_names
from truemoment.learning.training.progress import Track, unseen
from truemoment.learning.training.run import Run
from truemoment.media.features.changed import ChangedFeatures

SHUFFLED = "shuffled"


@dataclass(frozen=True)
class VariantGrid:
    """The variants of a method.

    Parameters
    ----------
    learning_rates
        A training run each.
    nms
        Thresholds of suppression; 1 is none.
    shuffled
        Whether each variant is also shown shuffled videos.
    """

    learning_rates: tuple[float, ...]
    nms: tuple[float, ...]
    shuffled: bool = True

    def of_network(self, rate: float, epoch: int) -> Iterator[tuple[str, bool, float]]:
        """Yield the variants of a network: name, whether its videos are shuffled, threshold."""
        for shuffled in (False, True)[: 1 + self.shuffled]:
            for nms in self.nms:
                end = f"-{SHUFFLED}" if shuffled else ""
                yield f"lr{rate:g}-epoch{epoch}-nms{nms:g}{end}", shuffled, nms


def make_variants(
    run: Run,
    grid: VariantGrid,
    out: Path,
    *,
    measures: str,
    track: Track = unseen,
    on_status: Callable[[str], None] = lambda _: None,
) -> int:
    """Train, and save the scores of every variant on the validation split and on the test splits.

    Existing results are kept, so that a grid that was interrupted can be resumed.

    Parameters
    ----------
    run
        What is trained; the grid's learning rates replace that of the recipe, and it does not stop early.
    grid
        Which variants.
    out
        Output folder.
    measures
        What is measured.
    track, on_status
        Shows progress; receives what is being done.

    Returns
    -------
    int
        How many variants there are.
    """
    if run.recipe.windows is not UNSET:
        raise UsageError("windows: variants are of whole videos, expected a recipe without windows")
    folder, splits = OwnPath(out), {run.val.split: run.val, **run.tests}
    refuse_names(splits)
    with lock_folder(folder):
        folder.refuse_links()
        for split in splits:
            (folder / split).mkdir(exist_ok=True)
        return sum(
            _make_of_rate(run, rate, grid, folder, splits, measures=measures, track=track, on_status=on_status)
            for rate in grid.learning_rates
        )


def _make_of_rate(
    run: Run,
    rate: float,
    grid: VariantGrid,
    folder: OwnPath,
    splits: Mapping[str, Annotations],
    *,
    measures: str,
    track: Track,
    on_status: Callable[[str], None],
) -> int:
    """Make the variants of a learning rate; return how many there are."""
    trained = folder / "runs" / f"lr{rate:g}"
    on_status(f"learning rate {rate:g}: training")
    _train(run, rate, trained, track)
    weights = _kept(trained)
    n_variants = len(weights) * len(list(grid.of_network(rate, 0)))
    missing = [
        (number, path)
        for number, path in weights.items()
        if not all(
            (folder / split / f"{name}.npz").exists() for split in splits for name, *_ in grid.of_network(rate, number)
        )
    ]
    if not missing:
        return n_variants
    on_status(f"learning rate {rate:g}: answering")
    method = dataclasses.replace(TrainedGrounder.load(trained, store=run.store), track=track)
    pairs = {
        (split, shuffled): _pairs(method, truth, shuffled=shuffled, seed=run.seed)
        for split, truth in splits.items()
        for shuffled in (False, True)[: 1 + grid.shuffled]
    }
    for number, path in missing:
        checkpoints.load_into(method.network, checkpoints.read_tensors(path), path)
        for split, truth in splits.items():
            on_status(f"learning rate {rate:g}, epoch {number}: {split}")
            of_split = {shuffled: examples for (name, shuffled), examples in pairs.items() if name == split}
            _save(method, truth, of_split, grid.of_network(rate, number), folder=folder / split, measures=measures)
    return n_variants


def _train(run: Run, rate: float, folder: OwnPath, track: Track) -> None:
    """Train at a learning rate to the last epoch, and keep the weights of each epoch."""
    recipe = msgspec.structs.replace(
        run.recipe,
        train=msgspec.structs.replace(run.recipe.train, learning_rate=rate),
        select=msgspec.structs.replace(run.recipe.select, patience=0),
    )

    def keep(epoch: Epoch) -> None:
        _keep(folder, epoch.epoch)

    newest = checkpoints.newest_epoch(folder)
    if newest is not None:  # a run that was cut off between its epoch's end and the copy
        _keep(folder, int(newest.name.removeprefix("epoch-")))
    perform(dataclasses.replace(run, recipe=recipe, tests={}), folder, track=track, on_epoch=keep)


def _keep(run: OwnPath, epoch: int) -> None:
    """Copy the weights of the newest epoch, complete or not at all."""
    weights = run / "weights"
    weights.mkdir(exist_ok=True)
    with (
        open_regular(epoch_folder(run, epoch) / "network.safetensors") as whole,
        atomic_write(weights / f"{epoch:04d}.safetensors") as stream,
    ):
        shutil.copyfileobj(whole, stream)


def _kept(run: OwnPath) -> dict[int, OwnPath]:
    """Return the weights of each epoch by its number."""
    weights = {int(path.stem): path for path in (run / "weights").glob("[0-9][0-9][0-9][0-9].safetensors")}
    if list(weights) != list(range(1, len(weights) + 1)):
        raise InputError(f"has the weights of epochs {list(weights)}, expected all of them", path=run / "weights")
    return weights


def _pairs(method: TrainedGrounder, split: Annotations, *, shuffled: bool, seed: int) -> Pairs:
    """Return a split's pairs as tensors."""
    store = method.features
    if store is not None and shuffled:
        store = ChangedFeatures(store, SHUFFLED, seed)
    model, recipe = method.network.model, method.run.recipe
    return pairs_to_answer(
        split.queries, store, method.vocabulary, recipe, model, track=lambda ids: method.track(ids, "features")
    )


def _save(
    method: TrainedGrounder,
    split: Annotations,
    pairs: Mapping[bool, Pairs],
    variants: Iterable[tuple[str, bool, float]],
    *,
    folder: OwnPath,
    measures: str,
) -> None:
    """Score a split with and without shuffled videos, and save the scores at each threshold."""
    recipe = method.run.recipe
    parsed, queries, top = parse_measures(measures), split.queries, recipe.decode.top
    scored = {shuffled: score(method.network, examples, recipe.train.batch) for shuffled, examples in pairs.items()}
    for name, shuffled, nms in variants:
        answers = as_predictions(queries.query_id, scored[shuffled], queries.duration_s, nms=nms, top=top, name=name)
        evaluate(split, on_grid(answers, recipe.decode.grid_s or None), parsed).save(folder / f"{name}.npz")
