"""Results that belong together: audits and the predictions that they are of."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from truemoment.base.boundary.files import sha256_of
from truemoment.base.errors import TrueMomentError
from truemoment.web.opening.catalogue import Card, Catalogue
from truemoment.web.opening.entries import Entry

MOST_BYTES = 512 << 20
"""Size of the largest file whose hash is computed."""


def audits_of(catalogue: Catalogue, predictions: Card) -> Iterator[Card]:
    """Yield the audits of a prediction file, the newest first."""
    for card in catalogue.of_kind("audit"):
        if _is_of(card, predictions):
            yield card


def predictions_of(catalogue: Catalogue, audit: Card) -> Card | None:
    """Return the prediction file of an audit; None if it is not in the folder, or was changed."""
    return next((card for card in catalogue.of_kind("predictions") if _is_of(audit, card)), None)


def _is_of(audit: Card, predictions: Card) -> bool:
    hints = audit.facts.hints
    is_named = hints.get("predictions") == predictions.entry.path.name
    return is_named and hints.get("sha256") == _sha256(predictions.entry)


@lru_cache(maxsize=1000)
def _sha256(entry: Entry) -> str:
    """Return the SHA-256 of a file, which is computed again when it changes."""
    try:
        return sha256_of(entry.path) if entry.size <= MOST_BYTES else ""
    except (TrueMomentError, OSError):
        return ""
