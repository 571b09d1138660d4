"""The randomised-video check on a model: the same queries on videos that are changed in several ways.

:class:`~truemoment.media.features.changed.ChangedFeatures` lists the changes. References are not moved. Source: Hidden
Challenges (Otani et al. 2020), section 4 and Fig. 5, which shuffles segments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, Self, runtime_checkable

from truemoment.base.errors import UsageError
from truemoment.base.records import Predictions, Queries
from truemoment.media.features.base import FeatureStore
from truemoment.media.features.changed import CHANGES, ChangedFeatures


@runtime_checkable
class SeesVideo(Protocol):
    """A fitted method that answers from frame features, and can be given others."""

    @property
    def name(self) -> str:
        """What to call the method in reports."""
        ...

    @property
    def features(self) -> FeatureStore | None:
        """What it looks at; None for a method that sees no video."""
        ...

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Answer each query with ranked moments."""
        ...

    def with_features(self, features: FeatureStore, /) -> Self:
        """Return the same method, as it was fitted, looking at other features."""
        ...


def randomised(
    grounder: SeesVideo,
    queries: Queries,
    *,
    top: int,
    seed: int,
    changes: Sequence[str] = CHANGES,
    on_status: Callable[[str], None] = lambda _: None,
) -> dict[str, Predictions]:
    """Return the answers of a method to the same queries on original and on changed videos, in the order of `ways`.

    `ways` are any of :data:`~truemoment.media.features.changed.WAYS`. `seed` and the id of a video determine its
    changes.
    """
    unknown = [change for change in changes if change not in CHANGES]
    if unknown:
        raise UsageError(f"got way {unknown[0]!r}, expected one of {', '.join(CHANGES)}")
    seen = grounder.features
    if seen is None:
        raise UsageError(f"{grounder.name} sees no video, so there is none to change")
    answers = {}
    for change in changes:
        on_status(f"{change} videos")
        store = seen if change == "original" else ChangedFeatures(seen, change, seed)
        answers[change] = grounder.with_features(store).ground(queries, top)
    return answers
