"""A trained method: the network of a run's best epoch, with the features that it sees."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import msgspec

from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.base.errors import InputError, UsageError
from truemoment.learning.training import checkpoints
from truemoment.learning.training.network import Network, read_network
from truemoment.learning.training.progress import Track, unseen
from truemoment.learning.training.query_rows import QUERIES, QueryRows
from truemoment.learning.training.recipes import resolve
from truemoment.learning.training.vocabulary import TokenVocabulary, read_vocabulary, with_commit
from truemoment.media.features.base import FeatureStore
from truemoment.media.features.sentences import SentenceStore


@dataclass(frozen=True, eq=False)
class TrainedNetwork:
    """A trained network with the features that it sees; a task names its class in `trained`.

    Parameters
    ----------
    run
        Record of the run.
    network
        Network of the best epoch.
    vocabulary
        Words with a vector; none for a model that compares whole sentences.
    features
        Features of the videos; None for a model that sees none.
    texts
        Vectors of whole sentences; None for a model that reads words.
    track
        Shows progress.
    """

    run: checkpoints.RunRecord
    network: Network
    vocabulary: TokenVocabulary
    features: FeatureStore | None
    texts: SentenceStore | None = None
    track: Track = unseen

    @classmethod
    def load(
        cls,
        folder: AnyPath,
        *,
        features: str | None = None,
        sentences: Sequence[str] = (),
        queries: str | None = None,
        store: FeatureStore | None = None,
        texts: SentenceStore | None = None,
        data_dir: Path | None = None,
        fps: float | None = None,
        track: Track = unseen,
    ) -> Self:
        """Load a trained method from the folder of a run.

        Parameters
        ----------
        folder
            Written by ``truemoment train``.
        features, sentences
            Sources of features and of sentence vectors. [default: those of the training]
        queries
            Source of the rows of the words of each query. [default: that of the training]
        store, texts
            Features and sentence vectors that are open already, in place of these.
        data_dir
            Folder of the data, for features that are made from annotations.
        fps
            Frames a second of features whose file has no rate. [default: that of the training]
        track
            Shows progress.

        Raises
        ------
        UsageError, MissingFileError, InputError
            If the folder contains no run of such a model, or a file is missing, malformed or of another width.
        """
        folder = OwnPath.of(folder)
        record = checkpoints.read_run(folder)
        recipe = resolve(msgspec.to_builtins(record.recipe), folder / "run.json")
        task = recipe.family.task
        if task.trained is not cls:
            raise UsageError(f"{folder}: is a run of {recipe.model}, which {task.use}")
        vocabulary = read_vocabulary(folder / "words.json")
        source = record.queries if queries is None else queries
        if source and queries is None and recipe.text.vectors != QUERIES:
            problem = f"got {source!r}, expected none: words of its recipe are {recipe.text.vectors!r}"
            raise InputError(problem, path=folder / "run.json", field="queries")
        text = with_commit(recipe.text, record.text_encoder)
        if rows := QueryRows.open(msgspec.structs.replace(recipe, text=text), source):
            record.refuse_other_words(rows.store)
            vocabulary = dataclasses.replace(vocabulary, rows=rows)
        resolved = msgspec.structs.replace(record, recipe=recipe)
        network = read_network(folder, resolved, vocabulary, loads_encoder=task.loads_encoder)
        if not recipe.family.sees_video:
            if features is not None:
                raise UsageError(f"{recipe.model} sees no video, expected no --features")
        elif store is None:
            source = record.features if features is None else features
            if not source:
                raise UsageError(f"{folder}: was made of published weights and names no features: give --features")
            dataset = record.made_of or record.train.dataset
            store = task.open_features(source, recipe, dataset, data_dir, seed=record.seed, fps=fps or record.fps)
        texts = texts or task.open_texts(sentences or record.sentences)
        return cls(record, network, vocabulary, store, texts, track)
