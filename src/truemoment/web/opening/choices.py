"""Annotations that go with predictions: those that the command names, files in the folder, and datasets."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from truemoment.base.boundary.text import as_text
from truemoment.base.errors import TrueMomentError
from truemoment.data.datasets import DATASETS
from truemoment.data.datasets.source import AnnotationSource
from truemoment.data.references import splits_of
from truemoment.web.opening.catalogue import Card, Catalogue
from truemoment.web.opening.entries import Entry
from truemoment.web.opening.joining import audits_of
from truemoment.web.pages.errors import PageError

MOST_BYTES = 256 << 20
"""Size of the largest file of annotations whose splits are listed."""

TRAINING = ("train", "training")
"""Splits that are rarely meant: they are listed last."""


@dataclass(frozen=True)
class DataChoice:
    """Annotations that may be meant.

    Parameters
    ----------
    key
        Its name in addresses.
    title
        Its name for people.
    source
        The annotations.
    folder
        Names of the folder in which the file lies; None for none.
    """

    key: str
    title: str
    source: AnnotationSource
    folder: tuple[str, ...] | None = None


class DataChoices:
    """Annotations for the predictions in a folder.

    Parameters
    ----------
    catalogue
        The results in the folder.
    given
        Annotations that the command names; they come first.
    """

    def __init__(self, catalogue: Catalogue, given: AnnotationSource) -> None:
        self.catalogue, self.given = catalogue, given
        self._splits: dict[tuple[str, int, int], list[str | None]] = {}

    def for_predictions(self, card: Card) -> list[DataChoice]:
        """Return the annotations that a file may be of, the most probable first."""
        hints = card.facts.hints
        audits = [audit.facts.hints for audit in audits_of(self.catalogue, card)]
        audited = [(audit.get("dataset"), audit.get("split")) for audit in audits]
        choices = list(self._all(dict.fromkeys([*audited, (hints.get("dataset"), hints.get("split"))])))

        def rank(choice: DataChoice) -> tuple[bool, ...]:
            source = choice.source
            name = source.dataset or ("" if source.annotations is None else source.annotations.name)
            split = source.split or "all"
            return (
                choice.key != "given",
                (name, split) not in audited,
                hints.get("dataset", name) != name,
                hints.get("split", split) != split,
                choice.folder != card.entry.path.parts[:-1],
                split in TRAINING,
            )

        return sorted(choices, key=rank)

    def of(self, card: Card, key: str = "") -> DataChoice:
        """Return the choice with a key, or the most probable one."""
        choices = self.for_predictions(card)
        choice = next((choice for choice in choices if key in ("", choice.key)), None)
        if choice is None and not choices:
            raise PageError(400, "there are no annotations in this folder; put a file of them there, or open the "
                            "folder with --dataset and --split, or --annotations", "data")  # fmt: skip
        if choice is None:
            raise PageError(404, "there are no such annotations in this folder", "data")
        return choice

    def _all(self, named: Iterable[tuple[str | None, str | None]]) -> Iterator[DataChoice]:
        """Yield what the command names, each split of each file in the folder, and the named splits of datasets."""
        if self.given.dataset is not None or self.given.annotations is not None:
            words = self.given.words()
            yield DataChoice("given", as_text(" ".join(words[1::2][:2])), self.given)
        for card in self.catalogue.of_kind("annotations"):
            for split in self._splits_of(card.entry):
                title = card.entry.name if split is None else f"{card.entry.name}, {as_text(split)}"
                source = AnnotationSource(None, card.entry.path.checked(), split)
                yield DataChoice(key_of(card.entry.key, split), title, source, card.entry.path.parts[:-1])
        for dataset, split in named:
            if dataset in DATASETS and split is not None:
                source = replace(self.given, dataset=dataset, annotations=None, split=split)
                yield DataChoice(key_of(dataset, split), f"{dataset}, {split}", source)

    def _splits_of(self, entry: Entry) -> list[str | None]:
        """Return the splits of a file; [None] for a file without any, [] for one that cannot be read."""
        if entry.version not in self._splits:
            try:
                splits = sorted(splits_of(entry.path)) if entry.size <= MOST_BYTES else []
                self._splits[entry.version] = [*splits] or [None]
            except (TrueMomentError, OSError):
                self._splits[entry.version] = []
        return self._splits[entry.version]


def key_of(*parts: str | None) -> str:
    """Return the name of a choice in addresses."""
    return hashlib.sha256("\0".join(part or "" for part in parts).encode(errors="surrogatepass")).hexdigest()[:16]
