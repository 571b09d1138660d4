"""Words for the measures with the lowest and the highest value."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from truemoment.base.intervals import Floats
from truemoment.evaluation.measures import Measure
from truemoment.evaluation.uncertainty import ROUNDING


def span(measures: Sequence[Measure | str], values: Floats, write: Callable[[float], str]) -> str:
    """Return the lowest and the highest value in words, each with its measure; undefined values are left out.

    Parameters
    ----------
    measures
        M measures.
    values : (M,)
        One value or more is defined.
    write
        Writes a value.

    Examples
    --------
    >>> span(["a", "b", "c"], np.array([0.2, np.nan, 0.1]), "{:.1f}".format)
    '0.1 (c) to 0.2 (a)'
    >>> span(["a", "b"], np.array([0.2, 0.2]), "{:.1f}".format), span(["a"], np.array([0.2]), "{:.1f}".format)
    ('0.2 (every measure)', '0.2 (a)')
    """
    low, high = int(np.nanargmin(values)), int(np.nanargmax(values))
    if values[high] - values[low] > ROUNDING:
        return f"{write(float(values[low]))} ({measures[low]}) to {write(float(values[high]))} ({measures[high]})"
    is_one = np.isfinite(values).sum() == 1
    return f"{write(float(values[low]))} ({measures[low] if is_one else 'every measure'})"
