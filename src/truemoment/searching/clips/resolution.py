r"""What a difference between two published shares can resolve, from figures and sizes alone.

Two shares :math:`p_1, p_2` of n independent queries each have, unpaired,

.. math::

   \mathrm{se} = \sqrt{\frac{p_1 (1 - p_1) + p_2 (1 - p_2)}{n}}, \qquad z = \frac{p_2 - p_1}{\mathrm{se}} .

Queries about one film share its difficulties. With an intra-film correlation :math:`\rho` and m queries a film, the
variance is :math:`1 + (m - 1) \rho` times as large (the design effect of Kish 1965), so that the truth is coarser.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

POWER_FACTOR = (1.959964 + 0.841621) ** 2
"""Square of the sum of the normal quantiles of a two-sided 5 % test and of 80 % power."""

RESOLVED_Z = 1.959964
"""Two-sided 5 %."""


@dataclass(frozen=True)
class Resolution:
    """A difference of two shares of as many queries.

    Parameters
    ----------
    first, second
        Fractions.
    n
        Number of queries of each.
    design_effect
        Factor of the variance for queries that go together; 1 for independent ones.

    Examples
    --------
    >>> gain = Resolution(0.209, 0.248, 1000)   # Table 6 of MAD: LSMDC16 alone, and with all of MAD, R@1
    >>> round(100 * gain.standard_error, 2), round(gain.z, 1), gain.is_resolved
    (1.88, 2.1, True)
    """

    first: float
    second: float
    n: int
    design_effect: float = 1.0

    @property
    def difference(self) -> float:
        """The second less the first."""
        return self.second - self.first

    @property
    def _variance(self) -> float:
        return self.design_effect * sum(share * (1 - share) for share in (self.first, self.second))

    @property
    def standard_error(self) -> float:
        """Of the difference."""
        return math.sqrt(self._variance / self.n)

    @property
    def z(self) -> float:
        """Difference over its standard error; NaN for shares of 0 or 1."""
        return self.difference / self.standard_error if self.standard_error else math.nan

    @property
    def is_resolved(self) -> bool:
        """Whether the difference is significant at 5 %, two-sided."""
        return abs(self.z) > RESOLVED_Z

    @property
    def n_needed(self) -> float:
        """Queries of each that would find a true difference of this size in 80 of 100 tests; infinite for none."""
        return POWER_FACTOR * self._variance / self.difference**2 if self.difference else math.inf


def design_effect(n: int, n_groups: int, correlation: float) -> float:
    """Return the factor of the variance of n queries in groups of one size with an intra-group correlation.

    Examples
    --------
    >>> [round(design_effect(7600, 13, correlation), 1) for correlation in (0.01, 0.03)]
    [6.8, 18.5]
    """
    return 1 + (n / n_groups - 1) * correlation
