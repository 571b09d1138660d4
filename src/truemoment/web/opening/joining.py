"""Results that belong together: audits and comparisons, and the predictions that they are of."""

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


def predictions_of(catalogue: Catalogue, document: Card) -> list[Card]:
    """Return the prediction files of an audit or a comparison, one each; files that were changed are left out."""
    by_hash = {_sha256(card.entry): card for card in catalogue.of_kind("predictions") if _is_of(document, card)}
    order = document.facts.hints.get("sha256", "").split("\n")
    return [by_hash[sha256] for sha256 in order if sha256 in by_hash]


def _is_of(document: Card, predictions: Card) -> bool:
    hints = document.facts.hints
    names, hashes = (hints.get(name, "").split("\n") for name in ("predictions", "sha256"))
    return predictions.entry.path.name in names and _sha256(predictions.entry) in hashes


@lru_cache(maxsize=1000)
def _sha256(entry: Entry) -> str:
    """Return the SHA-256 of a file, which is computed again when it changes."""
    try:
        return sha256_of(entry.path) if entry.size <= MOST_BYTES else ""
    except (TrueMomentError, OSError):
        return ""
