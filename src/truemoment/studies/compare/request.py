"""Request of a comparison."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from truemoment.base.errors import UsageError
from truemoment.base.request import AnyFile, In, Request, Running, argument, option
from truemoment.data.named_file import NamedFile
from truemoment.report.words import counted
from truemoment.studies.request import (
    Fitting,
    MappedData,
    Measuring,
    NamedValue,
    ReadingPredictions,
    Testing,
    named_value,
)

if TYPE_CHECKING:
    from truemoment.data.datasets.source import AnnotationSource
    from truemoment.studies.request import AnyPredictions

    AnyRuns = AnyPredictions | Sequence[AnyPredictions]
    """Predictions of a method, or those of its runs."""

PredictionInput = Path | NamedValue
"""A prediction file, or another value that has predictions."""

Way = Literal["shuffled", "reversed", "frozen", "other-video"]
"""Changes of videos (:data:`truemoment.media.features.changed.CHANGES`)."""

# A name and FILE or NAME=FILE, once or more.
Words = tuple[tuple[str, str], ...]


def files_by_method(words: Sequence[str]) -> dict[str, list[Path]]:
    """Read the arguments, FILE or NAME=FILE: the runs of each method."""
    files: dict[str, list[Path]] = {}
    unnamed: set[str] = set()
    for named in map(NamedFile.read, words):
        name, path = named.name, named.path
        if not named.is_named:
            unnamed.add(name)
        of_method = files.setdefault(name, [])
        if os.path.realpath(path) in map(os.path.realpath, of_method):  # pathlib's raises at a loop of links
            raise UsageError(f"{path} is given twice under the name {name!r}, expected each run once")
        of_method.append(path)
        if len(of_method) > 1 and name in unnamed:
            raise UsageError(
                f"{of_method[0]} and {path} would both have the name {name!r}; give NAME=FILE: one name for runs of "
                "one method, two for two methods"
            )
    if len(files) < 2:
        (name,) = files
        raise UsageError(
            f"got one method ({name}, {counted(len(files[name]), 'file')}), expected two or more; give files of "
            "different methods different names, as in ours=a.jsonl base=b.jsonl"
        )
    return files


def files_by_place(words: Words) -> dict[str, dict[str, list[Path]]]:
    """Read places and files: the files of each method by place."""
    files: dict[str, dict[str, list[Path]]] = {}
    for place, word in words:
        entry = NamedFile.read(word)
        files.setdefault(place, {}).setdefault(entry.name, []).append(entry.path)
    return files


def declarations(words: Sequence[str]) -> str | dict[str, str]:
    """Read the words of --reads, ``sentence`` or NAME=sentence: input of all methods, or of each of some."""
    if "sentence" in words:
        return "sentence"
    return {name if equals else "": value for name, equals, value in (word.rpartition("=") for word in words)}


@dataclass(frozen=True, kw_only=True)
class AdditionsRequest(Request):
    """Additional parts of the report of a comparison."""

    HEADING = "Beside the comparison"

    on: In[Mapping[str, Mapping[str, AnyRuns]]] = option(
        "Predictions of a method on another split, or on DATASET/SPLIT; can be repeated.",
        (),
        metavar="SPLIT [NAME=]FILE",
        rare=True,
        words=Words,
        read=files_by_place,
    )
    changed: In[Mapping[str, Mapping[str, AnyRuns]]] = option(
        "Predictions of a method on changed videos of the split: shuffled, reversed, frozen or other-video; can be "
        "repeated.",
        (),
        metavar="WAY [NAME=]FILE",
        rare=True,
        words=tuple[tuple[Way, str], ...],
        read=files_by_place,
    )
    floor: tuple[str, ...] | str = option(
        "Blind baseline to show beside the methods, e.g. action-aware; can be repeated. [default: sentence-network]",
        (),
        metavar="NAME",
        rare=True,
    )


@dataclass(frozen=True)
class CompareRequest(MappedData, Measuring, ReadingPredictions, Fitting, Testing, AdditionsRequest, Running):
    """The predictions of some methods, and the annotations against which they are measured."""

    predictions: In[Mapping[str, AnyRuns] | Sequence[AnyFile]] = argument(
        metavar="[NAME=]PREDICTIONS...", words=tuple[str, ...], read=files_by_method
    )
    _: KW_ONLY
    against: str | None = option(
        "Compare with this method (and the sentence network) only. [default: all pairs]", metavar="NAME"
    )
    reads: str | Mapping[str, str] = option(
        "Declare that a method, or all of them, read one sentence at a time; can be repeated.",
        (),
        metavar="[NAME=]sentence",
        rare=True,
        words=tuple[str, ...],
        read=declarations,
    )
    published: In[AnyFile | None] = option(
        "Published figures to show below ours, as tidy CSV.", metavar="DIR|FILE.csv", rare=True
    )

    def inputs(self) -> list[Path]:
        """Return the files of the datasets of other splits."""
        return [path for place in self.on for path in split_source(place, self.source).files()]

    def check(self) -> None:
        """Name the methods of a list of files by their files; refuse predictions without the name of a method."""
        given = self.predictions
        if isinstance(given, list | tuple) and all(isinstance(file, str | os.PathLike) for file in given):
            object.__setattr__(self, "predictions", files_by_method([os.fspath(file) for file in given]))
        elif not isinstance(given, Mapping) or len(given) < 2:
            given_kind = f"{len(given)} method" if isinstance(given, Mapping) else type(given).__name__
            raise UsageError(
                f"predictions: got {given_kind}, expected those of two methods or more by name, as in "
                '{"ours": ..., "base": ...}'
            )

    @property
    def files(self) -> dict[str, list[PredictionInput]]:
        """The file or value of each run of each method."""
        return inputs_by_name(self.predictions)

    @property
    def declared(self) -> set[str]:
        """Names of the methods that are declared to read one sentence at a time."""
        reads = dict.fromkeys(self.files, self.reads) if isinstance(self.reads, str) else dict(self.reads)
        for name, value in reads.items():
            if value != "sentence" or not name:
                word = f"{name}={value}" if name else value
                raise UsageError(
                    f"--reads: got {word!r}, expected sentence, or NAME=sentence with the name of a method"
                )
        return set(reads)


def inputs_by_name(
    predictions: Any,  # noqa: ANN401 - a mapping, after `check`
    place: str = "",
) -> dict[str, list[PredictionInput]]:
    """Return the files or values of the runs of each method; values are named by the method, `place` and the run."""
    from truemoment.data.python_values import several_values

    inputs: dict[str, list[PredictionInput]] = {}
    for method, value in predictions.items():
        runs = [value] if isinstance(value, str | os.PathLike) else several_values(value)
        numbers = [""] if len(runs) == 1 else [f", run {number}" for number in range(1, len(runs) + 1)]
        inputs[method] = [named_value(run, f"{method}{place}{n}") for run, n in zip(runs, numbers, strict=True)]
    return inputs


def split_source(place: str, data: AnnotationSource) -> AnnotationSource:
    """Read a word such as test-iid, charades-sta/test or mine.jsonl/test: a split of the data, or of others."""
    from truemoment.data.datasets.source import AnnotationSource

    dataset, slash, split = place.rpartition("/")
    if not split or (slash and not dataset):
        raise UsageError(f"--on: got {place!r}, expected SPLIT or DATASET/SPLIT, e.g. test-iid or charades-sta/test")
    if not slash:
        if split == data.split:
            raise UsageError(f"--on {place}: is the split that is compared, expected another one")
        return replace(data, split=split)
    if os.path.isfile(dataset):  # noqa: PTH113 - pathlib raises at a name that is too long
        return AnnotationSource(None, Path(dataset), split, data.data_dir, data.how)
    return AnnotationSource(dataset, None, split, data.data_dir)
