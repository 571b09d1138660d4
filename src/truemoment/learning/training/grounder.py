"""A trained method as a Grounder: it answers queries, and can be shown other features."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import msgspec
import torch
from msgspec import UNSET

from truemoment.base.boundary.files import read_json, write_json
from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.base.boundary.yaml_files import naming
from truemoment.base.errors import InputError, UsageError
from truemoment.base.records import Annotations, Predictions, Queries
from truemoment.learning.models import FAMILIES, get_family
from truemoment.learning.models.base import Inputs
from truemoment.learning.models.decoding import as_predictions
from truemoment.learning.training import checkpoints
from truemoment.learning.training.answering import pairs_to_answer
from truemoment.learning.training.hardware import prediction_device
from truemoment.learning.training.network import Network
from truemoment.learning.training.progress import Track, unseen
from truemoment.learning.training.recipes import resolve
from truemoment.learning.training.scoring import score
from truemoment.learning.training.vocabulary import UNKNOWN, TokenVocabulary, word_numbers
from truemoment.learning.training.windows import AllCandidates, in_windows
from truemoment.media.features.base import FeatureStore
from truemoment.searching.first_look import WindowRanking
from truemoment.searching.opening import open_features


@dataclass(frozen=True, eq=False)
class TrainedGrounder:
    """A trained network with the features it sees.

    Parameters
    ----------
    run
        What it was trained for.
    network
        The best epoch's.
    vocabulary
        The words it knows.
    features
        What it sees of videos; None for a model that sees none.
    track
        Shows how far it is.
    ranking
        Chooses the windows of a film that a query asks; None for all.
    """

    run: checkpoints.Run
    network: Network
    vocabulary: TokenVocabulary
    features: FeatureStore | None
    track: Track = unseen
    ranking: WindowRanking | None = None

    @property
    def name(self) -> str:
        """The family, as reports call it."""
        return FAMILIES[self.run.recipe.model][0]

    def with_features(self, features: FeatureStore) -> TrainedGrounder:
        """Return the same method that is shown other features."""
        return dataclasses.replace(self, features=features)

    def fit(self, train: Annotations, val: Annotations | None = None) -> TrainedGrounder:
        """Return itself: it is trained already."""
        del train, val
        return self

    def unknown_words(self, queries: Queries) -> tuple[int, int]:
        """Count the words of queries that it does not know, and all of them."""
        numbers, n_words = word_numbers(queries.sentence, self.vocabulary, self.run.recipe.text.tokens)
        return int((numbers == UNKNOWN).sum()), int(n_words.sum())

    def ground(self, queries: Queries, top: int = 10) -> Predictions:
        """Answer queries with ranked moments.

        A run whose recipe has windows answers whole videos, window by window.
        """
        recipe = self.run.recipe
        if self.features is not None and self.features.n_dimensions != self.run.n_dimensions:
            raise InputError(
                f"got {self.features.n_dimensions} numbers a row, expected {self.run.n_dimensions} as in training",
                field="features",
            )
        if recipe.windows is not UNSET:
            method = AllCandidates(self.name, self.network, self.vocabulary, recipe, self.features)
            return in_windows(method, recipe.windows, ranking=self.ranking, track=self.track).ground(queries, top)
        unknown = ~(queries.duration_s > 0)
        if unknown.any():
            raise InputError(
                f"of video {queries.video_id[unknown][0]!r} is not known, and candidates are shares of it",
                field="duration_s",
            )
        pairs = pairs_to_answer(
            queries,
            self.features,
            self.vocabulary,
            recipe,
            self.network.model,
            track=lambda ids: self.track(ids, "features"),
        )
        found = score(self.network, pairs, recipe.train.batch)
        duration_s = queries.duration_s
        return as_predictions(queries.query_id, found, duration_s, nms=recipe.decode.nms, top=top, name=self.name)


def write_vocabulary(path: AnyPath, vocabulary: TokenVocabulary) -> None:
    """Write the words known; their vectors lie with the network."""
    write_json(path, list(vocabulary.words))


def read_vocabulary(path: AnyPath) -> TokenVocabulary:
    """Read the words known, without their vectors."""
    return TokenVocabulary(tuple(read_json(path, list[str])))


def load_grounder(
    folder: AnyPath,
    *,
    features: str | None = None,
    store: FeatureStore | None = None,
    data_dir: Path | None = None,
    track: Track = unseen,
) -> TrainedGrounder:
    """Load a trained method from a run's folder.

    Parameters
    ----------
    folder
        Made by ``truemoment train``.
    features
        Where features come from; None for what it was trained on.
    store
        Features that are open already, in place of these.
    data_dir
        Folder of the data, for features that are made from annotations.
    track
        Shows how far answering is.
    """
    folder = OwnPath.of(folder)
    run = checkpoints.read_run(folder)
    recipe = resolve(msgspec.to_builtins(run.recipe), folder / "run.json")
    family = get_family(recipe.model)
    if family.retrieves:
        raise UsageError(f"{folder}: is a run of {recipe.model}, which ranks clips: use truemoment retrieve --model")
    vocabulary = read_vocabulary(folder / "words.json")
    settings = msgspec.convert(recipe.settings, family.settings)
    inputs = Inputs(run.n_dimensions, run.n_vector, vocabulary.words)
    weights = folder / "best.safetensors"
    tensors = checkpoints.read_tensors(weights)
    with (
        naming(folder / "run.json", "recipe.settings"),
        torch.device("meta"),
    ):  # no room is made before it is known to fit
        shapes = Network(vocabulary, run.n_vector, family.build(settings, inputs))
    checkpoints.refuse_other_shapes(shapes, tensors, weights)
    model = family.build(settings, inputs)
    network = Network(vocabulary, run.n_vector, model)
    checkpoints.load_into(network, tensors, weights)
    network.to(prediction_device())
    if "video" not in model.needs:
        if features is not None:
            raise UsageError(f"{run.recipe.model} sees no video, expected no --features")
    elif store is None:
        source = run.features if features is None else features
        dataset = run.made_of or run.train.dataset
        store = open_features(source, dataset=dataset, data_dir=data_dir, seed=run.seed, fps=run.fps)
    return TrainedGrounder(run, network, vocabulary, store, track)
