"""Blocks of a recipe that state what is learned from: clips of moments, and the sources of a mixture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec.structs
from msgspec import Meta, Struct

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError


class RecipeBlock(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A block of a recipe that is written without the values that equal their defaults."""

    def __post_init__(self) -> None:
        """Let a value that equals its default be the default itself: msgspec leaves out no other.

        A value that was sent to a worker process is another, and so the hash of its recipe would be.
        """
        for field in msgspec.structs.fields(self):
            if getattr(self, field.name) == field.default:
                msgspec.structs.force_setattr(self, field.name, field.default)


class Clipping(Struct, frozen=True, forbid_unknown_fields=True):
    """How moments become clips for a model that ranks clips by text.

    Parameters
    ----------
    margin_s
        Seconds added on each side of a moment.
    pool
        Clips of the validation split that are ranked, drawn by seed: as many as the test has, so that the two compare.
    """

    margin_s: Annotated[float, Meta(ge=0, le=3600)] = 0.0
    pool: Annotated[int, Meta(ge=1, le=1_000_000)] = 1000


class MixtureSource(RecipeBlock, frozen=True):
    """A part of a mixture of training data; see :mod:`truemoment.learning.training.mixtures`.

    Parameters
    ----------
    dataset, annotations
        Name of a dataset, or your own annotations as JSON Lines; one of the two.
    split
        Its split.
    share
        Share that is used, above 0 and up to 1. A smaller share of one seed lies in a larger one.
    by
        What the share is of: ``sentences``, or ``films``.
    weight
        How often a sentence is drawn in an epoch.
    data_dir
        Folder of the dataset, if it is not that of the run.
    features, sentences, queries
        Features of its films, vectors of its sentences, and rows of the words of its queries, if they are not those of
        the run.
    name
        What reports call it. [default: the dataset or the name of the file, with the split if it is not train]
    """

    dataset: str | None = None
    annotations: str | None = None
    split: str = "train"
    share: Annotated[float, Meta(gt=0, le=1)] = 1.0
    by: Literal["sentences", "films"] = "sentences"
    weight: Annotated[float, Meta(gt=0, le=100)] = 1.0
    data_dir: str | None = None
    features: str | None = None
    sentences: str | None = None
    queries: str | None = None
    name: str | None = None

    @property
    def title(self) -> str:
        """What reports call it."""
        stem = self.dataset or Path(self.annotations or "own").stem
        return self.name or (stem if self.split == "train" else f"{stem}-{self.split}")


def refuse_sources(sources: Sequence[MixtureSource], path: AnyPath | None) -> None:
    """Refuse a source that names no annotations or two, and two of one name."""
    for number, source in enumerate(sources):
        if (source.dataset is None) == (source.annotations is None):
            problem = "expected dataset: NAME or annotations: FILE, one of the two"
            raise InputError(problem, path=path, field=f"data[{number}]")
    titles = [source.title for source in sources]
    if len(set(titles)) < len(titles):
        twice = next(title for title in titles if titles.count(title) > 1)
        raise InputError(f"got {twice!r} twice, expected a name: for each", path=path, field="data")
