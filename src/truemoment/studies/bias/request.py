"""Request of a report of the biases of datasets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from truemoment.base.errors import UsageError
from truemoment.base.request import AnyFile, In, InDataset, Request, Running, number, option, seed, several
from truemoment.studies.request import ReadingAnnotations, data_dir

if TYPE_CHECKING:
    from truemoment.studies.request import AnyAnnotations


@dataclass(frozen=True, kw_only=True)
class Datasets(Request):
    """Names of datasets and files that are reported, and their splits; none for all."""

    HEADING = "Data"

    dataset: InDataset[tuple[str, ...] | str | Sequence[str]] = option(
        "A dataset; can be repeated.", (), metavar="NAME"
    )
    annotations: In[tuple[Path, ...] | AnyAnnotations | Sequence[AnyAnnotations]] = option(
        "File of your own annotations, one dataset a file; its form is recognised. Can be repeated.", (), metavar="FILE"
    )
    split: tuple[str, ...] | str | Sequence[str] = option("Only this split; can be repeated.", (), metavar="NAME")
    data_dir: AnyFile | None = data_dir()
    axis: str | None = option(
        "Unit of the times in --annotations: seconds, milliseconds, fraction, percent, bins=N, frames=N or fps=F. "
        "[default: seconds]",
        metavar="A",
    )

    def check(self) -> None:
        """Refuse a dataset twice, and an axis that cannot be read."""
        from truemoment.data.axes import parse_axis

        parse_axis(self.axis or "seconds")
        names = several(self.dataset)
        if len(set(names)) < len(names):
            raise UsageError("got a dataset twice, expected each once")


@dataclass(frozen=True, kw_only=True)
class Surveying(Request):
    """Settings of the survey of a dataset."""

    HEADING = "Survey"

    engine: str = option(
        "Language engine that finds words and verbs: lexicon, spacy.", "lexicon", metavar="NAME", rare=True
    )
    top_verbs: int = number("Number of frequent verbs to show.", 30, 1, 200)
    verb: tuple[str, ...] | str | Sequence[str] = option(
        "Draw the moments of this verb, e.g. cook, in its base form; can be repeated.", (), metavar="VERB"
    )
    permutations: int = number("Number of permutations for tests between splits.", 1000, 1, 1_000_000, rare=True)
    draws: int = number("Number of draws for tests within a split, and for verbs.", 200, 1, 1_000_000, rare=True)
    seed: int = seed("all draws")


@dataclass(frozen=True, kw_only=True)
class BiasRequest(Datasets, ReadingAnnotations, Surveying, Running):
    """Datasets whose biases are reported, and settings."""
