r"""Bias-based: the most likely location of the training moments (Closer Look, Yuan et al. 2021, section 5.1).

The paper fits a Gaussian kernel density to the training moments' (start, end) and reports to draw predictions from it;
its published figures are those of *one constant*, the density's mode. A plain density loses half its mass at an edge,
and many moments are at edges (they start at 0, end at 1), so its mode is too far inside. Reflecting the density at the
video's start and end corrects this, with SciPy's bandwidth:

.. math:: \hat f(s, e) = f(s, e) + f(-s, e) + f(s, 2-e) + f(-s, 2-e)

The third side of the triangle :math:`0 \le s \le e \le 1`, moments of no length, is no edge at which moments pile up,
and nothing is reflected there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from truemoment.base.density import Density
from truemoment.base.intervals import Floats
from truemoment.base.records import Annotations, Predictions, Queries
from truemoment.baselines.base import constant_answers, fit_density, grid_of_moments, locations, rank_constants


def reflected(density: Density, start_norm: Floats, end_norm: Floats) -> Floats:
    """Density of (start, end), reflected at start 0 and at end 1; shapes (M,)."""
    images = [(start, end) for start in (start_norm, -start_norm) for end in (end_norm, 2 - end_norm)]
    places = np.concatenate([np.stack(image, axis=1) for image in images])
    return np.asarray(density.evaluate(places).reshape(len(images), -1).sum(axis=0))


@dataclass(frozen=True, eq=False)
class BiasBased:
    """Answer every query with the mode of the training moments' density.

    `bandwidth` is a factor on the standard deviations; None for Scott's, as in SciPy. The paper's figures need the
    density to be reflected at the edges. The mode is searched on a grid of `step_norm` of the video. `ranked`, once
    fitted, has the most likely moments with their densities, (K, 3), without near-duplicates.
    """

    bandwidth: float | None = None
    reflect: bool = True
    step_norm: float = 0.01
    ranked: Floats | None = None
    name: str = "Bias-based"

    def fit(self, train: Annotations, val: Annotations | None = None) -> BiasBased:
        """Fit the density to `train`."""
        del val
        points, _ = locations(train)
        density = fit_density(points, train, bandwidth=self.bandwidth)
        grid = grid_of_moments(self.step_norm)
        height = reflected(density, *grid.T) if self.reflect else density.evaluate(grid)
        return replace(self, ranked=rank_constants(grid, height))

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Answer with the mode, then the next most likely places that overlap no better one by more than 0.45."""
        return constant_answers(queries, self.ranked, top=top, name=self.name)
