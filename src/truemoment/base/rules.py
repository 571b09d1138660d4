"""What becomes of predictions that can be read in more than one way, or belong to nothing."""

from __future__ import annotations

from typing import Literal

OnUnknown = Literal["refuse", "ignore"]
"""What becomes of predictions for queries that the annotations do not have."""

OnNegative = Literal["refuse", "clip"]
"""What becomes of negative times."""

Which = Literal["last", "first", "all"]
OneSided = Literal["ambiguous", "extend"]
Swapped = Literal["ambiguous", "keep", "sort"]
