"""Request of a study of annotators."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from truemoment.base.errors import UsageError
from truemoment.base.request import AnyFile, In, InDataset, Request, Running, argument, number, option
from truemoment.data.named_file import file_by_system
from truemoment.studies.request import (
    MappedData,
    Measuring,
    NamedValue,
    ReadingPredictions,
    Testing,
    annotations_of,
    is_file,
    named_value,
)

if TYPE_CHECKING:
    from truemoment.base.records import Annotations
    from truemoment.data.datasets.source import AnnotationSource
    from truemoment.studies.request import AnyAnnotations, AnyPredictions


@dataclass(frozen=True, kw_only=True)
class OfficialSource(Request):
    """The dataset's own references, as the options name them."""

    HEADING = "Official references"

    official: InDataset[str | None] = option(
        "The dataset's own references of these queries, or none. [default: those of the dataset that was annotated "
        "again]",
        metavar="DATASET/SPLIT",
    )
    official_annotations: In[AnyAnnotations | None] = option(
        "The same from a file, in place of --official.", metavar="FILE"
    )

    def official_references(self, data: AnnotationSource) -> Annotations | None:
        """Return them: those that are named, else those of the dataset that was annotated again."""
        from truemoment.base.records import Annotations
        from truemoment.data.datasets import load_annotations
        from truemoment.data.datasets.reannotation import REANNOTATES
        from truemoment.data.references import read_annotations

        references = self.official_annotations
        if references is not None:
            return references if isinstance(references, Annotations) else read_annotations(Path(references), None)
        if self.official == "none":
            return None
        if self.official is None:
            original = REANNOTATES.get(data.dataset or "")
            return None if original is None else load_annotations(original, data.split or "", data_dir=data.data_dir)
        dataset, slash, split = self.official.partition("/")
        if not slash or not dataset or not split:
            raise UsageError(
                f"--official: got {self.official!r}, expected DATASET/SPLIT, e.g. charades-sta/test, or none"
            )
        return load_annotations(dataset, split, data_dir=data.data_dir)

    def check(self) -> None:
        """Make annotations of a Python value that is no file; refuse a split and a file."""
        references = annotations_of(self.official_annotations, "official_annotations")
        object.__setattr__(self, "official_annotations", references)
        if self.official is not None and self.official_annotations is not None:
            raise UsageError("got --official and --official-annotations, expected one of them")


@dataclass(frozen=True)
class HumansRequest(MappedData, OfficialSource, Measuring, ReadingPredictions, Testing, Running):
    """The annotators, the systems beside them, and what is drawn."""

    predictions: In[Mapping[str, AnyPredictions] | Sequence[AnyFile]] = argument(
        metavar="[[NAME=]PREDICTIONS]...", words=tuple[str, ...], read=file_by_system, required=False
    )
    _: KW_ONLY
    duplicates: Literal["published", "out", "kept"] = option(
        "Whether moments identical to a person's own count when people are compared with each other.", "published"
    )
    draws: int = number(  # type: ignore[assignment]  # the option has this name, and Testing.draws is not used here
        "Number of draws of a random annotator.", 100, 1, 10000
    )
    timelines: int = number("Number of queries to draw, in order of rising agreement.", 6, 0, 100)

    @property
    def systems(self) -> dict[str, Path | NamedValue]:
        """The file or value of each system."""
        given = self.predictions or {}
        if isinstance(given, list | tuple) and all(map(is_file, given)):
            given = file_by_system([os.fspath(file) for file in given])
        if not isinstance(given, Mapping):
            raise UsageError(
                f"predictions: got {type(given).__name__}, expected those of systems by name, as in "
                '{"ours": ..., "base": ...}'
            )
        return {name: named_value(value, name) for name, value in given.items()}
