"""Rules for predictions that can be read in more than one way, or that match no query."""

from __future__ import annotations

from typing import Literal

OnUnknown = Literal["refuse", "ignore"]
"""Rule for predictions for queries that the annotations do not have."""

OnNegative = Literal["refuse", "clip"]
"""Rule for negative times."""

Which = Literal["chosen", "last", "first", "all"]
OneSided = Literal["ambiguous", "extend"]
Swapped = Literal["ambiguous", "keep", "sort"]
