"""How a trained run predicts: its features, a change of the videos, and a first look at windows."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from msgspec import UNSET

from truemoment.base.errors import UsageError
from truemoment.base.known_names import one_of_known
from truemoment.learning.training.grounding import TrainedGrounder
from truemoment.learning.training.progress import Track, unseen
from truemoment.learning.training.recipes import Recipe
from truemoment.media.features.base import FeatureStore
from truemoment.media.features.changed import CHANGES, ChangedFeatures
from truemoment.media.features.sentences import SentenceFile
from truemoment.searching.first_look import FirstLook


@dataclass(frozen=True)
class RunOptions:
    """How a trained run predicts. It can be sent to other processes.

    Parameters
    ----------
    run
        Folder of the run.
    data_dir
        Folder of the data, for features that are made from annotations.
    features
        Source of features; None for that of the run.
    queries
        Source of the rows of the words of each query; None for that of the run.
    change, seed
        How the videos are changed, and the seed of the change; None for not at all.
    sentences
        File of sentence vectors in the space of the features, for a first look at windows.
    first_look
        Windows of a film that a query asks, 0 for all; None for that of the recipe.
    on_gpu
        Whether a worker of a cluster needs a GPU.
    """

    run: Path
    data_dir: Path | None = None
    features: str | None = None
    change: str | None = None
    seed: int = 0
    sentences: Path | None = None
    first_look: int | None = None
    on_gpu: bool = False
    queries: str | None = None

    def __post_init__(self) -> None:
        """Refuse an unknown change."""
        if self.change is not None and self.change not in CHANGES:
            raise UsageError(f"--change: unknown {self.change!r}, expected {one_of_known(self.change, CHANGES)}")

    @property
    def changes(self) -> bool:
        """Whether the videos are changed."""
        return self.change not in (None, "original")

    def load(self, track: Track = unseen) -> TrainedGrounder:
        """Load the run as it predicts."""
        method = TrainedGrounder.load(
            self.run, features=self.features, queries=self.queries, data_dir=self.data_dir, track=track
        )
        if self.change is not None and self.changes:
            if method.features is None:
                raise UsageError(f"--change {self.change}: {method.name} sees no video")
            method = method.with_features(ChangedFeatures(method.features, self.change, self.seed))
        return dataclasses.replace(method, ranking=self._ranking(method.run.recipe, method.features))

    def _ranking(self, recipe: Recipe, features: FeatureStore | None) -> FirstLook | None:
        """Return the first look, None for all windows; refuse options that do not fit together."""
        n_windows = (recipe.decode.first_look or 0) if self.first_look is None else self.first_look
        if not n_windows:
            if self.sentences is not None:
                raise UsageError("--sentences: is for a first look at windows, expected --first-look K")
            return None
        if recipe.windows is UNSET or features is None:
            raise UsageError(f"--first-look: is of a run on windows of films, and {self.run} is none")
        if self.sentences is None:
            raise UsageError(
                f"a first look at {n_windows} windows compares frames with sentence vectors: give --sentences FILE, or "
                "--first-look 0 for all windows"
            )
        return FirstLook(n_windows, features, SentenceFile(self.sentences))
