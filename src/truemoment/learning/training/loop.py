"""The training loop: epochs, the validation split's measure, early stopping, a checkpoint an epoch.

Everything drawn in an epoch comes from the seed and the epoch's number, and a checkpoint is a whole epoch: a run that
is killed and started again ends with the same weights as one that was not. ``accelerate`` adds devices, mixed
precision and several GPUs (``accelerate launch``); a batch is what all of them share.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import DataLoaderConfiguration, DistributedDataParallelKwargs, GradientAccumulationPlugin
from torch.utils.data import BatchSampler, DataLoader

from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import TrueMomentError, UsageError
from truemoment.base.records import Strings
from truemoment.data.language import get_engine
from truemoment.learning.training import checkpoints
from truemoment.learning.training.checkpoints import Epoch
from truemoment.learning.training.epochs import TRACKED
from truemoment.learning.training.examples import Pairs
from truemoment.learning.training.hardware import invalid_variables
from truemoment.learning.training.network import Learner, Network, TokenBatch, build_network
from truemoment.learning.training.optimisers import (
    load_optimiser,
    make_optimiser,
    optimiser_tensors,
    others_fixed,
    parameters_of,
    set_rate,
)
from truemoment.learning.training.progress import Track, unseen
from truemoment.learning.training.recipes import Optimisation, Recipe
from truemoment.learning.training.run import Run
from truemoment.learning.training.task import EpochData
from truemoment.learning.training.tracking import start_tracking, track_epoch, tracker_of
from truemoment.learning.training.vocabulary import UNKNOWN

CHECKED_STEPS = 50
"""Steps after which losses are checked, which waits for the device."""

SHOWN_QUERIES = 5
"""Queries that a message names."""


def train(
    run: Run, folder: OwnPath, *, track: Track = unseen, on_epoch: Callable[[Epoch], None] = lambda _: None
) -> list[Epoch]:
    """Train stage by stage, each until its last epoch or until none was better for the recipe's `patience`.

    Parameters
    ----------
    run
        What to learn from, with its vocabulary.
    folder
        The run's folder. A run in it is resumed.
    track
        Shows how far it is.
    on_epoch
        Called with each epoch that ends.

    Returns
    -------
    list of Epoch
        All of them, also those of an earlier start.
    """
    recipe = run.recipe
    torch.manual_seed(run.seed)
    network = build_network(recipe, run.vocabulary, run.n_dimensions)
    accelerator = _accelerator(recipe, folder, in_turns=network.model.learns_in_turns)
    if run.start is None:
        _start_actions(network, run)
    else:
        run.start.load_into(network, run.vocabulary)
    newest = checkpoints.newest_epoch(folder)
    history = [] if newest is None else checkpoints.read_history(newest)
    if (stage := _next_stage(history, recipe)) is None:
        accelerator.end_training()
        return history
    epochs = run.family.task.prepare(run.learnable(), network, track)
    if recipe.train.compile:
        network.model.compile()
    start_tracking(accelerator, recipe, run.seed, folder)
    training = _Stages(run, folder, network, epochs, accelerator, track, on_epoch)
    while stage is not None:
        history = training.stage(stage, history)
        stage = _next_stage(history, recipe)
    accelerator.end_training()
    return history


@dataclass(frozen=True)
class _Stages:
    """The common parts of the stages of a run; fields as in :func:`train`."""

    run: Run
    folder: OwnPath
    network: Network
    epochs: EpochData
    accelerator: Accelerator
    track: Track
    on_epoch: Callable[[Epoch], None]

    def stage(self, stage: int, history: list[Epoch]) -> list[Epoch]:
        """Train from the newest epoch, or the one that the stage before kept, to the end of a stage; return the log."""
        train = self.run.recipe.train
        clipped = list(parameters_of(self.network, train.clipped or (), "train.clipped").values())
        with others_fixed(self.network, train.every_stage[stage]):
            return self._epochs(stage, history, clipped)

    def _epochs(self, stage: int, history: list[Epoch], clipped: list[torch.nn.Parameter]) -> list[Epoch]:
        recipe, network = self.run.recipe, self.network
        settings = recipe.train.every_stage[stage]
        optimiser = make_optimiser(recipe.train, settings, network)
        _put_back(self.folder, history, stage, network, optimiser)
        network.model.start_stage(frozenset(settings.losses))
        learner, optimiser = self.accelerator.prepare(Learner(network, frozenset(settings.losses)), optimiser)
        step = Step(network, learner, optimiser, self.accelerator, recipe.train, clipped)
        while _next_stage(history, recipe) == stage:
            epochs = [epoch for epoch in history if epoch.stage == stage]
            rate = recipe.train.rate_of(settings, len(epochs) + 1)
            set_rate(optimiser, rate)
            ended = self._epoch(len(history) + 1, stage, replace(step, rate=rate), epochs)
            history = [*history, ended]
            if self.accelerator.is_main_process:
                checkpoints.save_epoch(self.folder, network, optimiser_tensors(optimiser), history)
                self.on_epoch(ended)
            track_epoch(self.accelerator, ended)
            self.accelerator.wait_for_everyone()
        return history

    def _epoch(self, number: int, stage: int, step: Step, earlier: list[Epoch]) -> Epoch:
        """Train for an epoch and validate; `earlier` are the other epochs of the stage."""
        measure = self.epochs.measure
        pairs, log = self.epochs.epoch(number)
        started = time.perf_counter()
        settings = self.run.recipe.train.every_stage[stage]
        loader = self.accelerator.prepare_data_loader(self._loader(pairs, number, settings.batch or 1))
        torch.manual_seed(int(np.random.SeedSequence([self.run.seed, number]).generate_state(1)[0]))
        step.learner.train()
        steps = self.track(loader, f"epoch {number}")
        n_steps = step.steps_of(len(loader))  # all epochs have as many batches
        n_taken = (number - 1) * n_steps
        step = replace(step, stage=(n_taken - len(earlier) * n_steps, (settings.epochs or 1) * n_steps))
        loss, watched, waited = _one_epoch(step, steps, self.epochs.query_id, n_taken)
        seconds = time.perf_counter() - started
        in_stage = len(earlier) + 1
        is_validated = in_stage % (self.run.recipe.select.every or 1) == 0 or in_stage == settings.epochs
        val = self.epochs.validate(self.network) if is_validated else {}
        if val and np.isnan(val[measure]):
            raise UsageError(f"select.measure: {measure} is undefined on {self.run.val.split}, name another one")
        is_better = bool(val) and all(val[measure] > epoch.val[measure] for epoch in earlier if epoch.val)
        best = settings.keep == "last" or is_better
        return Epoch(number, loss, val, best, watched | log, round(seconds, 3), round(waited / seconds, 5), stage)

    def _loader(self, pairs: Pairs, epoch: int, size: int) -> DataLoader[TokenBatch]:
        """Return an epoch's batches of `size`, in the order and with the other videos that its number draws."""
        rng = np.random.default_rng([self.run.seed, epoch])
        model = self.network.model
        draws = pairs.order(size, rng)
        if self.run.recipe.train.sentences == "one a video":
            _, first = np.unique(self.epochs.video_id[draws], return_index=True)
            draws = draws[np.sort(first)]
        order = draws.tolist()
        if "other video" in model.needs:
            pairs = pairs.with_others(self.epochs.video_id.tolist(), rng)
        batches = _Batches(order, size, model.least_batch)
        return DataLoader(pairs, batch_sampler=batches, collate_fn=lambda batch: batch)  # the pairs put it together


def _accelerator(recipe: Recipe, folder: OwnPath, *, in_turns: bool) -> Accelerator:
    """Return the devices of a recipe, which must fit its precision and batch, and its tracker."""
    tracker = tracker_of(recipe)
    try:
        accelerator = Accelerator(
            log_with=tracker,
            project_dir=(folder / TRACKED).checked(),
            mixed_precision=recipe.train.precision,
            # As a plugin: the variable ACCELERATE_GRADIENT_ACCUMULATION_STEPS would replace a plain number.
            gradient_accumulation_plugin=GradientAccumulationPlugin(num_steps=recipe.train.accumulate or 1),
            dataloader_config=DataLoaderConfiguration(split_batches=True),
            kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=in_turns)],
        )
    except ValueError as error:  # accelerate reads its own variables
        raise invalid_variables(error) from None
    if recipe.train.precision == "fp16" and accelerator.device.type == "cpu":
        raise UsageError("train.precision: got fp16 on a CPU, expected no or bf16; fp16 needs a GPU")
    for size in (recipe.train.batch, *(stage.batch or 1 for stage in recipe.train.every_stage)):
        if size % accelerator.num_processes:
            raise UsageError(f"train.batch: got {size}, expected a multiple of {accelerator.num_processes} processes")
    return accelerator


def _start_actions(network: Network, run: Run) -> None:
    """Start a model that knows actions by name from the vectors of the most frequent verbs of training."""
    entries = network.model.action_entries()
    if not entries:
        return
    text = run.recipe.text
    counts: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = {}
    for tokens in get_engine(text.engine).analyse(run.train.queries.sentence.tolist()):
        for token in tokens:
            if token.tag == "VERB":
                counts[token.lemma] += 1
                forms.setdefault(token.lemma, Counter())[token.text.lower()] += 1
    numbers = run.vocabulary.numbers
    verbs = []
    for lemma, _ in counts.most_common():  # the base form where it is known, else the commonest form that is
        spelt = numbers([lemma, *(form for form, _ in forms[lemma].most_common())])
        verbs += [number for number in spelt if number != UNKNOWN][:1]
    if len(verbs) < entries:
        raise UsageError(
            f"the training sentences have {len(verbs)} known verbs: set settings.n_actions to that or less"
        )
    with torch.no_grad():
        network.model.start_actions(network.table.weight[verbs[:entries]])


def _put_back(
    folder: OwnPath, history: list[Epoch], stage: int, network: Network, optimiser: torch.optim.Optimizer
) -> None:
    """Load the newest epoch of a stage with its optimiser, or the best network of the stage before."""
    newest = checkpoints.newest_epoch(folder)
    if newest is None:
        return
    resumed = history[-1].stage == stage
    weights = newest / "network.safetensors" if resumed else folder / "best.safetensors"
    checkpoints.load_into(network, checkpoints.read_tensors(weights), weights)
    if resumed:
        state = newest / "optimiser.safetensors"
        load_optimiser(optimiser, checkpoints.read_tensors(state), state)


def _next_stage(history: list[Epoch], recipe: Recipe) -> int | None:
    """Return the number of the stage that the next epoch belongs to; None if all stages have ended."""
    stages = recipe.train.every_stage
    stage = history[-1].stage if history else 0
    of_stage = [epoch for epoch in history if epoch.stage == stage]
    validated = [epoch for epoch in of_stage if epoch.val]
    since_best = next((ago for ago, epoch in enumerate(reversed(validated)) if epoch.best), 0)
    is_done = len(of_stage) >= (stages[stage].epochs or 0)
    if is_done or (recipe.select.patience and since_best >= recipe.select.patience):
        stage += 1
    return stage if stage < len(stages) else None


class _Batches(BatchSampler):
    """Batches of pairs in an order; a last one that is smaller than `least` joins the one before."""

    def __init__(self, order: list[int], size: int, least: int) -> None:
        super().__init__(order, size, drop_last=False)
        self.least = least

    def __iter__(self) -> Iterator[list[int]]:
        batches = list(super().__iter__())
        if len(batches) > 1 and len(batches[-1]) < self.least:
            batches[-2:] = [batches[-2] + batches[-1]]
        yield from batches

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(frozen=True)
class Step:
    """A step of training: the network, the optimiser, and the clipping of gradients.

    The learner is the network's :class:`Learner`, as accelerate prepares it for the device and the processes. `rate` is
    the learning rate of the epoch; `stage` is the number of the stage's first step, and how many it has.
    """

    network: Network
    learner: torch.nn.Module
    optimiser: torch.optim.Optimizer
    accelerator: Accelerator
    rule: Optimisation
    clipped: list[torch.nn.Parameter]
    rate: float = 0.0
    stage: tuple[int, int] = (0, 1)

    def steps_of(self, n_batches: int) -> int:
        """Return the number of optimiser steps that batches of one epoch make."""
        return -(-n_batches // (self.rule.accumulate or 1))

    def take(self, examples: TokenBatch, number: int) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
        """Learn from a batch; return the terms of the loss with "total", and the scalars that the model reports.

        Parameters
        ----------
        examples
            The batch.
        number
            Optimiser steps of the run before it.
        """
        self.network.model.start_step(number)
        if self.rule.changes_by_step:
            first, n_steps = self.stage
            set_rate(self.optimiser, self.rate * self.rule.factor_at((number - first + 1) / n_steps))
        with self.accelerator.accumulate(self.learner):
            terms, scalars = self.learner(examples)
            if self.rule.l2:
                squares = [weight.square().sum() for weight in self.learner.parameters() if weight.requires_grad]
                terms = {**terms, "l2": 0.5 * self.rule.l2 * torch.stack(squares).sum()}
            total = torch.stack(list(terms.values())).sum()
            if total.requires_grad:  # a stage may have nothing to learn from a batch
                self.accelerator.backward(total)
            if self.accelerator.sync_gradients:
                self._clip()
            self.optimiser.step()
            self.optimiser.zero_grad(set_to_none=True)
        return {**terms, "total": total}, scalars

    def _clip(self) -> None:
        if self.rule.clip and self.rule.clip_by == "value":
            self.accelerator.clip_grad_value_(self.clipped, self.rule.clip)
        elif self.rule.clip:
            self.accelerator.clip_grad_norm_(self.clipped, self.rule.clip)


def _one_epoch(
    step: Step,
    loader: Any,  # noqa: ANN401 - a loader, or what follows one
    query_id: Strings,
    n_taken: int,
) -> tuple[dict[str, float], dict[str, float], float]:
    """Learn from each batch; return means of the loss's terms and of what is watched, and the seconds waited.

    Parameters
    ----------
    step
        Learns from a batch.
    loader
        The batches.
    query_id
        Query of each pair.
    n_taken
        Optimiser steps of the run before this epoch.
    """
    accelerator = step.accelerator
    losses: dict[str, torch.Tensor] = {}
    watched: dict[str, torch.Tensor] = {}
    recent: list[tuple[torch.Tensor, torch.Tensor]] = []  # the pairs of each batch, and its loss
    n_pairs, waited = 0, 0.0
    for at, (examples, seconds) in enumerate(_timed(iter(loader))):
        waited += seconds
        terms, scalars = step.take(examples, n_taken + at // (step.rule.accumulate or 1))
        size = len(examples.n_words)
        n_pairs += size
        _add(losses, terms, size)
        _add(watched, scalars, size)
        recent.append((examples.pair, terms["total"].detach()))
        if len(recent) == CHECKED_STEPS:
            _refuse_infinite(recent, query_id)
            recent.clear()
    _refuse_infinite(recent, query_id)
    n_pairs = int(accelerator.reduce(torch.tensor(n_pairs, device=accelerator.device), "sum"))
    means, watched_means = (
        {name: float(accelerator.reduce(value, "sum")) / n_pairs for name, value in sums.items()}
        for sums in (losses, watched)
    )
    return means, watched_means, waited


def _refuse_infinite(recent: list[tuple[torch.Tensor, torch.Tensor]], query_id: Strings) -> None:
    """Stop the training at a loss that is not finite; the error names the queries of its batch."""
    if not recent:
        return
    finite = torch.isfinite(torch.stack([loss for _, loss in recent])).tolist()  # waits for the device
    if not all(finite):
        pairs, loss = recent[finite.index(False)]
        names = query_id[pairs.cpu().numpy()].tolist()
        listed = ", ".join(names[:SHOWN_QUERIES]) + (
            f" and {len(names) - SHOWN_QUERIES} more" if len(names) > SHOWN_QUERIES else ""
        )
        raise TrueMomentError(
            f"the loss is not finite ({float(loss)}) in the batch of {listed}: lower train.learning_rate, or change "
            "train.clip or precision"
        )


def _add(sums: dict[str, torch.Tensor], values: dict[str, torch.Tensor], weight: int) -> None:
    """Add weighted scalars to sums by name, where they are computed: asking for each would wait for the device."""
    for name, value in values.items():
        term = weight * value.detach().float()
        sums[name] = sums[name] + term if name in sums else term


def _timed(batches: Iterator[TokenBatch]) -> Iterator[tuple[TokenBatch, float]]:
    """Yield each batch with the seconds that it was waited for."""
    while True:
        started = time.perf_counter()
        try:
            examples = next(batches)
        except StopIteration:
            return
        yield examples, time.perf_counter() - started
