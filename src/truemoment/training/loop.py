"""The training loop: epochs, the validation split's measure, early stopping, a checkpoint an epoch.

Everything drawn in an epoch comes from the seed and the epoch's number, and a checkpoint is a whole epoch: a run that
is killed and started again ends with the same weights as one that was not. ``accelerate`` brings devices, mixed
precision and several GPUs (``accelerate launch``); a batch is what all of them share.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import DataLoaderConfiguration
from torch.utils.data import BatchSampler, DataLoader

from truemoment.exceptions import TrueMomentError, UsageError
from truemoment.language import get_engine
from truemoment.models import get_family
from truemoment.models.base import Inputs
from truemoment.records import Annotations
from truemoment.training import checkpoints
from truemoment.training.checkpoints import Epoch
from truemoment.training.epoch_data import TrainingData, make_epoch_data, queries_kept
from truemoment.training.examples import Pairs, other_videos
from truemoment.training.network import Network, TokenBatch
from truemoment.training.progress import Track, unseen
from truemoment.training.recipes import Recipe
from truemoment.training.vocabulary import UNKNOWN, TokenVocabulary


def source_of(annotations: Annotations) -> checkpoints.UsedAnnotations:
    """Say which annotations were used, and how many of their queries could be."""
    kept = annotations.select_queries(queries_kept(annotations))
    return checkpoints.UsedAnnotations(
        annotations.dataset,
        annotations.split,
        annotations.sha256,
        kept.n_queries,
        kept.n_videos,
        annotations.n_queries - kept.n_queries,
    )


def build_network(recipe: Recipe, vocabulary: TokenVocabulary, n_dimensions: int) -> Network:
    """Build a recipe's network with PyTorch's present generator."""
    family = get_family(recipe.model)
    settings = msgspec.convert(recipe.settings, family.settings)
    n_vector = recipe.text.size if vocabulary.vectors is None else vocabulary.vectors.shape[1]
    return Network(vocabulary, n_vector, family.build(settings, Inputs(n_dimensions, n_vector)))


def train(
    data: TrainingData,
    folder: Path,
    *,
    track: Track = unseen,
    on_epoch: Callable[[Epoch], None] = lambda _: None,
) -> list[Epoch]:
    """Train until the recipe's last epoch, or until none was better for its `patience`.

    Parameters
    ----------
    data
        What to learn from.
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
    recipe = data.recipe
    accelerator = _accelerator(recipe)
    torch.manual_seed(data.seed)
    network = build_network(recipe, data.vocabulary, 0 if data.store is None else data.store.n_dimensions)
    _start_actions(network, data)
    learned = [parameter for parameter in network.parameters() if parameter.requires_grad]
    optimiser = torch.optim.Adam(learned, lr=recipe.train.learning_rate, weight_decay=recipe.train.weight_decay)
    history = _go_on(folder, network, optimiser)
    if _is_done(history, recipe):
        return history
    epochs = make_epoch_data(data, network, track)
    video_ids, measure = epochs.video_ids if "other video" in network.model.needs else [], epochs.watch.measure
    # Accelerate replaces `forward` in place, by one in mixed precision. The container takes that for training, and the
    # network inside stays as it is: it is judged and saved in float32, as it will answer.
    learner, optimiser = accelerator.prepare(torch.nn.Sequential(network), optimiser)
    while not _is_done(history, recipe):
        epoch = len(history) + 1
        pairs, log = epochs.epoch(epoch)
        started = time.perf_counter()
        loader = accelerator.prepare_data_loader(_loader(pairs, video_ids, recipe, data.seed, epoch))
        torch.manual_seed(int(np.random.SeedSequence([data.seed, epoch]).generate_state(1)[0]))
        learner.train()
        steps = track(loader, f"epoch {epoch}")
        loss, watched, waited = _one_epoch(learner, optimiser, accelerator, steps, recipe.train.clip)
        seconds = time.perf_counter() - started
        val = epochs.validate(network)
        if np.isnan(val[measure]):
            raise UsageError(f"select.measure: {measure} is undefined on {data.val.split}, name another one")
        best = not history or val[measure] > max(of.val[measure] for of in history)
        history.append(Epoch(epoch, loss, val, best, watched | log, round(seconds, 3), round(waited / seconds, 5)))
        if accelerator.is_main_process:
            checkpoints.save_epoch(folder, network, optimiser, history)
            on_epoch(history[-1])
        accelerator.wait_for_everyone()
    return history


def _accelerator(recipe: Recipe) -> Accelerator:
    """Return the devices of a recipe, which must fit its precision and batch."""
    accelerator = Accelerator(
        mixed_precision=recipe.train.precision,
        dataloader_config=DataLoaderConfiguration(split_batches=True),
    )
    if recipe.train.precision == "fp16" and accelerator.device.type == "cpu":
        raise UsageError("train.precision: got fp16 on a CPU, expected no or bf16; fp16 needs a GPU")
    if recipe.train.batch % accelerator.num_processes:
        raise UsageError(
            f"train.batch: got {recipe.train.batch}, expected a multiple of {accelerator.num_processes} processes"
        )
    return accelerator


def _start_actions(network: Network, data: TrainingData) -> None:
    """Let a model that knows actions by name start from the vectors of the most frequent verbs of training."""
    entries = network.model.action_entries()
    if not entries:
        return
    text = data.recipe.text
    counts: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = {}
    for tokens in get_engine(text.engine).analyse(data.train.queries.sentence.tolist()):
        for token in tokens:
            if token.tag == "VERB":
                counts[token.lemma] += 1
                forms.setdefault(token.lemma, Counter())[token.text.lower()] += 1
    numbers = data.vocabulary.numbers
    known = []
    for lemma, _ in counts.most_common():  # the base form where it is known, else the commonest form that is
        spelt = numbers([lemma, *(form for form, _ in forms[lemma].most_common())])
        known += [number for number in spelt if number != UNKNOWN][:1]
    if len(known) < entries:
        raise UsageError(
            f"the training sentences hold {len(known)} known verbs: set settings.n_actions to that or less"
        )
    with torch.no_grad():
        network.model.start_actions(network.table.weight[known[:entries]])


def _go_on(folder: Path, network: Network, optimiser: torch.optim.Optimizer) -> list[Epoch]:
    """Put back the newest whole epoch, if there is one; return the log up to it."""
    newest = checkpoints.newest_epoch(folder)
    if newest is None:
        return []
    weights = newest / "network.safetensors"
    checkpoints.load_into(network, checkpoints.read_tensors(weights), weights)
    moments = newest / "optimiser.safetensors"
    checkpoints.load_optimiser(optimiser, checkpoints.read_tensors(moments), moments)
    return checkpoints.read_history(newest)


def _is_done(history: list[Epoch], recipe: Recipe) -> bool:
    if len(history) >= recipe.train.epochs:
        return True
    since_best = next((ago for ago, of in enumerate(reversed(history)) if of.best), 0)
    return bool(recipe.select.patience) and since_best >= recipe.select.patience


def _loader(pairs: Pairs, video_ids: list[str], recipe: Recipe, seed: int, epoch: int) -> DataLoader[TokenBatch]:
    """Return an epoch's batches, in the order and with the other videos that its number draws."""
    rng = np.random.default_rng([seed, epoch])
    order = rng.permutation(len(pairs)).tolist()
    if video_ids:
        other = pairs.video[other_videos(video_ids, rng)]
        pairs = Pairs(pairs.sentences, pairs.video, pairs.table, iou=pairs.iou, other=other)
    sampler = BatchSampler(order, recipe.train.batch, drop_last=False)
    return DataLoader(pairs, batch_sampler=sampler, collate_fn=_as_it_is)


def _as_it_is(examples: Any) -> Any:  # noqa: ANN401 - a batch, which the pairs put together themselves
    return examples


def _one_epoch(
    learner: torch.nn.Module,
    optimiser: torch.optim.Optimizer,
    accelerator: Accelerator,
    loader: Any,  # noqa: ANN401 - a loader, or what follows one
    clip: float,
) -> tuple[dict[str, float], dict[str, float], float]:
    """Take a step for each batch; return means of the loss's terms and of what is watched, and the seconds waited."""
    losses: dict[str, torch.Tensor] = {}
    watched: dict[str, torch.Tensor] = {}
    n_pairs, waited = 0, 0.0
    for examples, seconds in _timed(iter(loader)):
        waited += seconds
        output, terms = learner(examples)
        total = torch.stack(list(terms.values())).sum()
        accelerator.backward(total)
        if clip:
            accelerator.clip_grad_norm_(learner.parameters(), clip)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        size = len(examples.n_words)
        n_pairs += size
        _add(losses, {**terms, "total": total}, size)
        _add(watched, {name: of for name, of in output.extras.items() if of.ndim == 0}, size)
    n_pairs = int(accelerator.reduce(torch.tensor(n_pairs, device=accelerator.device), "sum"))
    means = {name: float(accelerator.reduce(value, "sum")) / n_pairs for name, value in losses.items()}
    if not np.isfinite(means["total"]):
        raise TrueMomentError(
            f"the loss is not finite ({means['total']}): lower train.learning_rate, or change train.clip or precision"
        )
    watched_means = {name: float(accelerator.reduce(value, "sum")) / n_pairs for name, value in watched.items()}
    return means, watched_means, waited


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
