"""A run from the asking to the figures: checks, the folder, training, answers and measures on the test splits."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch

from truemoment.base.boundary.files import write_json
from truemoment.base.boundary.folders import lock_folder
from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats
from truemoment.base.records import Annotations
from truemoment.base.version import __version__
from truemoment.data.formats import write_predictions
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measures
from truemoment.learning.models import get_family
from truemoment.learning.models.base import TIMES
from truemoment.learning.training import checkpoints
from truemoment.learning.training.checkpoints import Epoch
from truemoment.learning.training.epoch_data import TrainingData
from truemoment.learning.training.grounder import load_grounder, read_vocabulary, write_vocabulary
from truemoment.learning.training.hardware import commit, hardware, processes
from truemoment.learning.training.loop import build_network, source_of, train
from truemoment.learning.training.network import Network, parts_of
from truemoment.learning.training.progress import Track, unseen
from truemoment.learning.training.recipes import Recipe
from truemoment.learning.training.results import ResultRow
from truemoment.learning.training.retriever import RETRIEVAL_MEASURES, BesideZeroShot, load_retriever, rank_split
from truemoment.learning.training.vocabulary import (
    NO_WORDS,
    TokenVocabulary,
    make_vocabulary,
    text_encoder_of,
    with_commit,
)
from truemoment.media.features.base import FeatureStore
from truemoment.media.features.sentences import SentenceStore

MEASURES = "R@1,IoU=0.5; R@1,IoU=0.7; dR@1,IoU=0.5; dR@1,IoU=0.7; mIoU; AxIoU@10"
"""Measured on test splits."""

RUN_FIELDS = (
    "recipe",
    "seed",
    "train",
    "val",
    "features",
    "features_name",
    "n_dimensions",
    "n_vector",
    "sentences",
    "fps",
)

HELD_OUT = "held out"
HELD_OUT_SHARE = 0.1
"""Share of the training videos that chooses where a dataset has no validation split."""

FORCED = (
    "by force, it was trained on {train} and its epoch chosen on {val}: figures on a test split among them are too good"
)

LAST_EPOCH = "it was trained without times of moments, and its last epoch is kept: no reference was used"

BEST_EPOCH = "it was trained without times of moments, but its epoch was chosen with those of {val}"

FIT_FOR_A_FILE = re.compile(r"[\w][\w .+-]{0,79}")
"""Names of splits that files are called by."""


@dataclass(frozen=True, eq=False)
class TrainingTask:
    """What is to be trained.

    Parameters
    ----------
    recipe, seed
        The recipe, and the seed of all draws.
    train, val
        What is learned from, and what the epoch is chosen by.
    features, store
        Source of the features, and the features; "" and None for a model that sees no video.
    made_of
        Dataset that a resplit folder was made of, and whose features are simulated; "" for other annotations.
    sentences
        Every sentence whose words may be looked up in a file of fixed vectors.
    data_dir
        Folder of the data.
    forced
        Whether a test split may be learned from or choose, which every result says.
    notes
        What every result must say.
    caution
        What results say of a forced run; "" for that a test split was learned from or chose.
    text_sources, texts
        Sources of the vectors of sentences, and the vectors, for a model that compares them.
    weights
        How often each training query is drawn in an epoch; None for once.
    fps
        Rows a second of features that state none.
    """

    recipe: Recipe
    seed: int
    train: Annotations
    val: Annotations
    features: str = ""
    store: FeatureStore | None = None
    made_of: str = ""
    sentences: Sequence[str] = ()
    data_dir: Path | None = None
    forced: bool = False
    notes: tuple[str, ...] = ()
    caution: str = ""
    text_sources: tuple[str, ...] = ()
    texts: SentenceStore | None = None
    weights: Floats | None = None
    fps: float | None = None

    def __post_init__(self) -> None:
        """Refuse features for a model that sees none, none for one that does, and a test split that chooses unasked."""
        family = get_family(self.recipe.model)
        sees = "video" in family.needs
        if sees and self.store is None:
            raise UsageError(f"{self.recipe.model} sees the video: give --features, e.g. --features FILE.hdf5")
        if not sees and self.store is not None:
            raise UsageError(f"{self.recipe.model} sees no video, expected no --features")
        if (is_test(self.val.split) or is_test(self.train.split)) and not self.forced:
            which = self.val.split if is_test(self.val.split) else self.train.split
            raise UsageError(f"{which} is a test split: nothing is learned from it or chosen by it, unless forced")
        if not family.retrieves and not np.all(self.val.queries.duration_s > 0):
            raise UsageError(
                f"{self.val.dataset}/{self.val.split} holds videos of unknown duration, candidates are shares"
            )


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """What a run came to.

    Parameters
    ----------
    folder, run
        Its folder, and its request.
    history
        The log, an entry an epoch.
    n_parameters
        Trainable numbers of the model, its table of words left out.
    parts
        Trainable numbers of each part of the model by name, and of "words", the word vectors, if they are learned.
    tests
        Rows of figures on the test splits.
    beside_zero_shot
        Of a model that ranks clips: its figures beside those before training.
    """

    folder: Path
    run: checkpoints.Run
    history: list[Epoch]
    n_parameters: int
    parts: dict[str, int] = field(default_factory=dict)
    tests: tuple[ResultRow, ...] = field(default=())
    beside_zero_shot: tuple[BesideZeroShot, ...] = ()

    @property
    def best(self) -> Epoch:
        """The epoch that was chosen."""
        return next(epoch for epoch in reversed(self.history) if epoch.best)


def is_test(split: str, merged: Sequence[str] = ()) -> bool:
    """Whether choosing by a split would be choosing by a test.

    Parameters
    ----------
    split
        Its name.
    merged
        Names of the splits that a test split of the dataset is merged from.
    """
    return re.search(r"(?<![a-z])test", split.casefold()) is not None or split in merged


def hold_out(train: Annotations, seed: int) -> tuple[Annotations, Annotations]:
    """Take a tenth of the training videos, drawn by seed, to choose the epoch by.

    Examples
    --------
    >>> rows = [(f"v{n}#0", f"v{n}", 9.0, "a door opens", 1.0, 2.0) for n in range(20)]
    >>> rest, held = hold_out(Annotations.from_rows(rows, split="train"), seed=0)
    >>> rest.n_videos, held.n_videos, held.split
    (18, 2, 'held out of train')
    """
    videos = np.unique(train.queries.video_id.astype(str))
    if len(videos) < 2:
        raise UsageError(f"{train.dataset}/{train.split} has {len(videos)} video(s), too few to hold some out")
    drawn = np.random.default_rng([seed, 0]).permutation(videos)[: max(1, round(HELD_OUT_SHARE * len(videos)))]
    held_out = np.isin(train.queries.video_id.astype(str), drawn)
    rest = dataclasses.replace(train.select_queries(~held_out), split=f"{train.split} less {len(drawn)} videos")
    return rest, dataclasses.replace(train.select_queries(held_out), split=f"held out of {train.split}")


def perform(
    task: TrainingTask,
    folder: AnyPath,
    tests: Mapping[str, Annotations],
    *,
    measures: str | None = None,
    track: Track = unseen,
    on_epoch: Callable[[Epoch], None] = lambda _: None,
) -> TrainingResult:
    """Train, predict the test splits with the best epoch, measure, and save all of it in the run's folder.

    A folder with the same run is resumed; one with another run is refused.

    Parameters
    ----------
    task
        What is to be trained.
    folder
        The run's; made if it is not there.
    tests
        Test splits by name; answers go to ``FOLDER/SPLIT.jsonl``, vectors of clips and sentences to ``SPLIT.npz``.
    measures
        What is measured on them; None for the default of the kind of model.
    track, on_epoch
        As for :func:`truemoment.learning.training.loop.train`.
    """
    refuse_names((task.val.split, *tests))
    folder = OwnPath.of(folder)
    retrieves = get_family(task.recipe.model).retrieves
    there = checkpoints.read_run(folder) if (folder / "run.json").exists() else None
    text_encoder = text_encoder_of(task.recipe.text) if there is None else there.text_encoder
    text = with_commit(task.recipe.text, text_encoder)
    vocabulary = NO_WORDS
    if not retrieves:
        vocabulary = make_vocabulary(text, task.train.queries.sentence, task.sentences, task.data_dir, seed=task.seed)
    run = _run_of(task, vocabulary, text_encoder)
    sharing = processes()
    with lock_folder(folder) if sharing.is_main_process else contextlib.nullcontext():
        with sharing.main_process_first():
            _claim(folder, run, vocabulary)
        data = TrainingData(
            task.recipe, task.train, task.val, task.store, vocabulary, task.seed, task.texts, task.weights
        )
        history = train(data, folder, track=track, on_epoch=on_epoch)
        if not sharing.is_main_process:
            return TrainingResult(folder.path, run, history, 0)
        answer = _rank if retrieves else _ground
        network, rows, beside = answer(task, folder, run, tests, measures=measures, history=history, track=track)
        n_parameters = network.model.n_parameters()
        result = TrainingResult(folder.path, run, history, n_parameters, parts_of(network), rows, beside)
        write_json(folder / "result.json", document(result))
        return result


def _run_of(task: TrainingTask, vocabulary: TokenVocabulary, text_encoder: str) -> checkpoints.Run:
    """Return what is written of a task into its folder."""
    return checkpoints.Run(
        recipe=task.recipe,
        seed=task.seed,
        train=source_of(task.train, get_family(task.recipe.model).needs),
        val=checkpoints.UsedAnnotations(
            task.val.dataset, task.val.split, task.val.sha256, task.val.n_queries, task.val.n_videos
        ),
        features=task.features,
        features_name="" if task.store is None else task.store.name,
        n_dimensions=0 if task.store is None else task.store.n_dimensions,
        n_vector=task.recipe.text.size if vocabulary.vectors is None else vocabulary.vectors.shape[1],
        forced=task.forced,
        notes=(*task.notes, *_notes_of(task)),
        text_encoder=text_encoder,
        made_of=task.made_of,
        sentences=task.text_sources,
        fps=task.fps,
        truemoment=__version__,
    )


def _notes_of(task: TrainingTask) -> list[str]:
    """Return what results must say of a test split used by force, and of times where the model needs none."""
    notes = []
    family = get_family(task.recipe.model)
    if not family.retrieves and not family.needs & TIMES:
        notes.append(LAST_EPOCH if task.recipe.train.keeps_last else BEST_EPOCH.format(val=task.val.split))
    if task.forced:  # reports read it as the last one
        notes.append(task.caution or FORCED.format(train=task.train.split, val=task.val.split))
    return notes


def refuse_names(splits: Iterable[str]) -> None:
    """Refuse splits whose names cannot be those of files."""
    for split in splits:
        if not FIT_FOR_A_FILE.fullmatch(split):
            raise UsageError(
                f"split {split!r} cannot be a file's name, expected letters, digits, blanks, '.', '_', '-'"
            )


def _claim(folder: OwnPath, run: checkpoints.Run, vocabulary: TokenVocabulary) -> None:
    """Write the request of a run, or check that this folder has the same one."""
    folder.refuse_links()
    words = folder / "words.json"
    if (folder / "run.json").exists():
        there = checkpoints.read_run(folder)
        # Notes are words for people: those of an older version are no other run.
        differing = [name for name in (*RUN_FIELDS, "forced") if getattr(there, name) != getattr(run, name)]
        if differing:
            raise UsageError(checkpoints.another_run(folder, there, run.recipe, differing))
        if words.exists() and read_vocabulary(words).words != vocabulary.words:
            raise UsageError(f"{folder}: was trained with other words (other --test splits?); give -o another folder")
        if not words.exists():
            write_vocabulary(words, vocabulary)
        return
    if folder.exists() and any(path != words and not path.name.startswith(".") for path in folder.iterdir()):
        raise UsageError(f"{folder}: is there already and holds no training run; give -o another folder")
    write_vocabulary(words, vocabulary)
    write_json(folder / "run.json", run)


# The best network, its figures on the test splits, and those beside the network before training.
Answered = tuple[Network, tuple[ResultRow, ...], tuple[BesideZeroShot, ...]]


def _ground(
    task: TrainingTask,
    folder: OwnPath,
    run: checkpoints.Run,
    tests: Mapping[str, Annotations],
    *,
    measures: str | None,
    history: list[Epoch],
    track: Track,
) -> Answered:
    """Answer the test splits with moments, write the answers, and measure them."""
    grounder = dataclasses.replace(load_grounder(folder, store=task.store), track=track)
    rows: list[ResultRow] = []
    for split, of in tests.items():
        answers = grounder.ground(of.queries, run.recipe.decode.top)
        write_predictions(folder / f"{split}.jsonl", answers, of, made_by=run.made_by)
        measured = evaluate(of, answers, parse_measures(measures or MEASURES)).measured()
        figures = [(figure.measure, figure.value, figure.n_queries or 0) for figure in measured]
        rows += _rows(run, of, figures, history)
    return grounder.network, tuple(rows), ()


def _rank(
    task: TrainingTask,
    folder: OwnPath,
    run: checkpoints.Run,
    tests: Mapping[str, Annotations],
    *,
    measures: str | None,
    history: list[Epoch],
    track: Track,
) -> Answered:
    """Rank the clips of the test splits, write their vectors, and measure beside the network before training."""
    retriever = load_retriever(folder, store=task.store, texts=task.texts, track=track)
    torch.manual_seed(task.seed)
    start = build_network(task.recipe, NO_WORDS, run.n_dimensions).to(next(retriever.network.parameters()).device)
    rows: list[ResultRow] = []
    beside: list[BesideZeroShot] = []
    for split, of in tests.items():
        found, n_texts = rank_split(retriever, start, of, folder / f"{split}.npz", measures or RETRIEVAL_MEASURES)
        rows += _rows(run, of, [(one.measure, one.value, n_texts) for one in found], history)
        beside += found
    return retriever.network, tuple(rows), tuple(beside)


def _rows(
    run: checkpoints.Run, of: Annotations, figures: Sequence[tuple[str, float | None, int]], history: list[Epoch]
) -> list[ResultRow]:
    """Return figures (measure, value, number of queries) of a split as rows."""
    best = next(epoch for epoch in reversed(history) if epoch.best)
    made_with = {"commit": commit(), "hardware": hardware(), "truemoment": __version__}
    return [
        ResultRow(
            recipe=run.recipe.model,
            config=run.recipe.hash,
            seed=run.seed,
            dataset=of.dataset,
            split=of.split,
            data=of.sha256[:8],
            features=run.features_name or "none",
            measure=measure,
            value="" if value is None else f"{value:.6f}",
            n_queries=n_queries,
            trained_on=run.made_by["trained_on"],
            chosen_on=run.made_by["chosen_on"],
            epoch=best.epoch,
            seconds=round(sum(epoch.seconds for epoch in history), 1),
            notes=" | ".join(run.notes),
            **made_with,
        )
        for measure, value, n_queries in figures
    ]


def document(result: TrainingResult) -> dict[str, Any]:
    """Return a result as JSON."""
    return {
        "schema": "truemoment/training/1",
        "truemoment": __version__,
        "made_by": result.run.made_by,
        "seed": result.run.seed,
        "n_parameters": result.n_parameters,
        "parts": result.parts,
        "epochs": [dataclasses.asdict(epoch) for epoch in result.history],
        "best_epoch": result.best.epoch,
        "commit": commit(),
        "hardware": hardware(),
        "figures": [msgspec.to_builtins(row) for row in result.tests],
        **({"beside_zero_shot": [_beside(of) for of in result.beside_zero_shot]} if result.beside_zero_shot else {}),
        "notes": list(result.run.notes),
    }


def _beside(of: BesideZeroShot) -> dict[str, Any]:
    """Return a figure beside zero-shot as JSON; an interval that is undefined is null."""
    ci95 = None if np.isnan(of.ci95[0]) else list(of.ci95)
    values = {"split": of.split, "measure": of.measure, "value": of.value, "zero_shot": of.zero_shot}
    return values | {"difference": of.difference, "ci95": ci95}
