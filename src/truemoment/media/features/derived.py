"""A store whose rows are made of those of another one."""

from __future__ import annotations

from dataclasses import dataclass

from truemoment.media.features.base import FeatureStore
from truemoment.media.features.joined import source_widths


@dataclass(frozen=True, eq=False)
class DerivedFeatures:
    """What a store has in common with the `store` that its rows are made of."""

    store: FeatureStore

    @property
    def n_dimensions(self) -> int:
        """D, dimensions of a row."""
        return self.store.n_dimensions

    @property
    def source_widths(self) -> tuple[int, ...]:
        """Numbers of a row that are of each source."""
        return source_widths(self.store)

    @property
    def fps(self) -> float | None:
        """Rows per second; None if the rows cover each video evenly."""
        return self.store.fps
