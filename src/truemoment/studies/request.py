"""Parts of requests that studies share: the data, the measures, how predictions are read, draws, and fitting."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeGuard

from truemoment.base.errors import UsageError
from truemoment.base.request import MOST_RESAMPLES, AnyFile, In, InDataset, Out, Request, ignore, number, option, seed
from truemoment.base.rules import OneSided, OnNegative, OnUnknown, Swapped, Which

if TYPE_CHECKING:
    from truemoment.base.boundary.caching import Cache
    from truemoment.base.records import Annotations, Predictions
    from truemoment.data.datasets.source import AnnotationSource
    from truemoment.data.formats import Reader
    from truemoment.data.formats.matching import MatchReport
    from truemoment.data.formats.prediction_files import PredictionOptions
    from truemoment.data.references import ReferenceOptions
    from truemoment.evaluation.measures import Measure
    from truemoment.evaluation.protocols import Protocol
    from truemoment.evaluation.uncertainty import DrawSettings

    PythonValue = Any
    """A table, a dictionary of moments by query, or an array (:mod:`truemoment.data.python_values`)."""

    AnyAnnotations = Annotations | AnyFile | PythonValue
    """Annotations, or a file of them in any form that TrueMoment reads."""

    AnyPredictions = Predictions | AnyFile | PythonValue
    """Predictions, or a file in any format that TrueMoment reads."""

NO_OTHER_SPLITS = "other splits are read from a dataset or a file, or are in a table; found annotations of one split"


def data_dir() -> Any:  # noqa: ANN401 - as dataclasses.field
    """Return the option --data-dir."""
    return option(
        "Folder with a folder per dataset. [default: the variable TRUEMOMENT_DATA, or that of 'truemoment config']",
        metavar="DIR",
    )


def protocol() -> Any:  # noqa: ANN401 - as dataclasses.field
    """Return the option --protocol."""
    return option(
        "Evaluation convention. [default: default; moment-detr for QVHighlights]",
        metavar="NAME[,FIELD=VALUE...]",
        complete="protocols",
    )


def measures() -> Any:  # noqa: ANN401 - as dataclasses.field
    """Return the option --measures."""
    return option("Measures, separated by ';'. [default: the protocol's]", metavar="'A; B'", complete="measures")


def dataset() -> Any:  # noqa: ANN401 - as dataclasses.field
    """Return the option --dataset."""
    return option("A dataset; 'truemoment datasets list' shows them.", metavar="NAME", complete="datasets")


def no_cache() -> Any:  # noqa: ANN401 - as dataclasses.field
    """Return the option --no-cache."""
    return option("Fit and run every floor again, and do not save the results.", False, rare=True)


@dataclass(frozen=True, kw_only=True)
class ReadingAnnotations(Request):
    """How files of annotations are read."""

    HEADING = "Reading your own annotations"

    fields: str | None = option(
        "Columns of a table or list, e.g. 'sentence=caption, start_s=frame/25', or the file of --save-fields.",
        metavar="MAP",
    )
    save_fields: Out[AnyFile | None] = option("Save the value of --fields to a file.", metavar="FILE")
    durations: In[AnyFile | None] = option(
        "Durations of the videos, where the annotations have none: CSV or JSON of video_id, duration_s.", metavar="FILE"
    )
    videos: AnyFile | None = option("Folder of video files, named by video id, to read durations from.", metavar="DIR")
    frame_rate: float | None = option(
        "Frames per second of annotations that count frames (CVAT, Label Studio).",
        limits=(0, 1000),
        is_open=True,
        metavar="F",
    )

    def check(self) -> None:
        """Refuse a mapping that cannot be read, and one that is saved without being given."""
        if self.fields is not None:
            _ = self.how_references
        elif self.save_fields is not None:
            raise UsageError("--save-fields saves the value of --fields, expected --fields")

    @property
    def how_references(self) -> ReferenceOptions:
        """The options of the reader."""
        from truemoment.data.references import ReferenceOptions, parse_fields

        given = {
            "--fields": self.fields,
            "--durations": self.durations,
            "--videos": self.videos,
            "--frame-rate": self.frame_rate,
        }
        return ReferenceOptions(
            None if self.fields is None else parse_fields(self.fields),
            self.frame_rate,
            None if self.durations is None and self.videos is None else self.durations_of,
            None if self.save_fields is None else Path(self.save_fields),
            tuple((name, str(value)) for name, value in given.items() if value is not None),
        )

    def durations_of(self, video_ids: Sequence[str]) -> dict[str, float]:
        """Return durations by video: those in the file, else those of the video files."""
        from truemoment.data.references import read_durations

        durations = {} if self.durations is None else read_durations(Path(self.durations))
        missing = [video_id for video_id in video_ids if video_id not in durations]
        if self.videos is not None:  # a folder that is given is looked at, so that a wrong one is refused
            from truemoment.media.video.files import find_videos
            from truemoment.media.video.frames import duration_of

            files = find_videos(Path(self.videos), missing)
            durations |= {video_id: duration_of(file) for video_id, file in files.items()}
        return durations


def own_annotations() -> Any:  # noqa: ANN401 - as dataclasses.field
    """Return the option --annotations."""
    return option("File of your own annotations, in place of --dataset; its form is recognised.", metavar="FILE")


@dataclass(frozen=True, kw_only=True)
class DataOfSplits(Request):
    """Annotations of a study of several splits."""

    HEADING = "Data"

    dataset: InDataset[str | None] = dataset()
    annotations: In[AnyAnnotations | None] = own_annotations()
    data_dir: AnyFile | None = data_dir()

    def check(self) -> None:
        """Make a source of a Python value that is neither a file nor a record: it may have several splits."""
        if self.annotations is None or is_file(self.annotations):
            return
        from truemoment.base.records import Annotations
        from truemoment.data.datasets.source import AnnotationSource
        from truemoment.data.python_values import reference_entries
        from truemoment.data.references import AS_STATED

        if self.dataset is not None:
            raise UsageError("got annotations and a dataset, expected one of them")
        if not isinstance(self.annotations, Annotations | AnnotationSource):
            how = self.how_references if isinstance(self, ReadingAnnotations) else AS_STATED
            entries = tuple(reference_entries(self.annotations, how))
            source = AnnotationSource(None, Path("annotations"), self.read_split, how=how, entries=entries)
            object.__setattr__(self, "annotations", source)

    @property
    def read_split(self) -> str | None:
        """The split that is read where none is named."""
        return None

    @property
    def source(self) -> AnnotationSource:
        """The annotations by name, file or value."""
        from truemoment.data.datasets.source import AnnotationSource

        if isinstance(self.annotations, AnnotationSource):
            return self.annotations
        dataset = None if self.dataset is None else str(self.dataset)
        places = path_of(self.annotations), self.read_split, path_of(self.data_dir)
        if isinstance(self, ReadingAnnotations):
            return AnnotationSource(dataset, *places, self.how_references)
        return AnnotationSource(dataset, *places)


@dataclass(frozen=True, kw_only=True)
class Data(DataOfSplits):
    """The annotations of a study of one split."""

    HEADING = "Data"

    dataset: InDataset[str | None] = dataset()
    annotations: In[AnyAnnotations | None] = own_annotations()
    split: str | None = option("Split of the dataset, e.g. test-ood.", metavar="NAME", complete="splits")
    data_dir: AnyFile | None = data_dir()

    @property
    def read_split(self) -> str | None:
        """The split that is read."""
        return self.split

    @property
    def origin(self) -> AnnotationSource | Annotations:
        """The annotations by name, file or value, or the record."""
        from truemoment.base.records import Annotations

        return self.annotations if isinstance(self.annotations, Annotations) else self.source

    def reference(self) -> Annotations:
        """Read the annotations."""
        from truemoment.base.records import Annotations

        annotations = self.origin
        return annotations if isinstance(annotations, Annotations) else annotations.read()


@dataclass(frozen=True, kw_only=True)
class MappedData(Data, ReadingAnnotations):
    """Which annotations are read, and how."""


@dataclass(frozen=True, kw_only=True)
class Measuring(Request):
    """Measures and protocol; None for the default."""

    HEADING = "Measures"

    protocol: str | Protocol | None = protocol()
    measures: str | Sequence[Measure | str] | None = measures()

    def check(self) -> None:
        """Refuse measures and protocols that are not known, before files are read."""
        from truemoment.evaluation.measures import parse_measures

        self.parsed_protocol()
        if isinstance(self.measures, str):
            parse_measures(self.measures)

    @property
    def measures_text(self) -> str | None:
        """The measures as text."""
        measures = self.measures
        return measures if measures is None or isinstance(measures, str) else "; ".join(map(str, measures))

    def parsed_protocol(self) -> Protocol | None:
        """Return the protocol; None for the dataset's own."""
        from truemoment.evaluation.protocols import get_protocol

        return get_protocol(self.protocol) if isinstance(self.protocol, str) else self.protocol

    def protocol_words(self) -> list[str]:
        """Return the option that names the protocol, if it was given."""
        return [] if self.protocol is None else ["--protocol", str(self.protocol)]


@dataclass(frozen=True, kw_only=True)
class ReadingPredictions(Request):
    """Options of the reader of prediction files."""

    HEADING = "Reading predictions"

    format: str | None = option("Format of the file. [default: recognised from it]", metavar="F", complete="formats")
    axis: str | None = option(
        "Unit of the numbers: seconds, milliseconds, fraction, percent, bins=N, frames=N or fps=F. [default: seconds]",
        metavar="A",
    )
    prediction_fields: str | None = option(
        "Columns of a table or list of predictions, e.g. 'start_s=first/25, end_s=last/25', or the file of a mapping.",
        metavar="MAP",
    )
    save_prediction_fields: Out[AnyFile | None] = option(
        "Save the value of --prediction-fields to a file.", metavar="FILE", rare=True
    )
    which: Which | None = option(
        "Answers in words: which moments of one that lists several. [default: chosen]", rare=True
    )
    one_sided: OneSided | None = option(
        "Answers in words: a start without an end, or an end without a start. [default: ambiguous]", rare=True
    )
    swapped: Swapped | None = option(
        "Answers in words: a moment that ends before it starts. [default: ambiguous]", rare=True
    )
    on_unknown: OnUnknown = option("What to do with rows that belong to no query.", "refuse")
    on_negative: OnNegative = option("What to do with negative times.", "refuse", rare=True)

    def check(self) -> None:
        """Refuse an axis or a mapping that cannot be read, and a mapping that is saved without being given."""
        _ = self.how
        if self.save_prediction_fields is not None and self.prediction_fields is None:
            raise UsageError("--save-prediction-fields saves --prediction-fields, expected --prediction-fields")

    @property
    def how(self) -> PredictionOptions:
        """The options of the reader."""
        from truemoment.data.answers.reading import Reading
        from truemoment.data.formats.objects import parse_prediction_fields
        from truemoment.data.formats.prediction_files import PredictionOptions

        settings = {name: getattr(self, name) for name in ("axis", "which", "one_sided", "swapped")}
        options = {name: value for name, value in settings.items() if value is not None}
        reading = Reading(**options) if options else None
        fields = None if self.prediction_fields is None else parse_prediction_fields(self.prediction_fields)
        save = None if self.save_prediction_fields is None else Path(self.save_prediction_fields)
        names_axis = self.axis is not None
        return PredictionOptions(self.format, reading, self.on_unknown, self.on_negative, names_axis, fields, save)

    def read(
        self, predictions: AnyPredictions, annotations: Annotations, *, progress: bool = False
    ) -> tuple[Predictions, MatchReport]:
        """Return predictions, the record itself or what a file or value contains, and how they match the queries."""
        from truemoment.base.records import Predictions
        from truemoment.data.formats.matching import report_of_record

        if is_file(predictions):
            return self.how.read(Path(predictions), annotations, progress=progress)
        value, name = predictions if isinstance(predictions, NamedValue) else (predictions, "predictions")
        if not isinstance(value, Predictions):
            from truemoment.data.python_values import predictions_of

            return predictions_of(value, annotations, self.how, name)
        return value, report_of_record(value, annotations)

    def settled(self, on_warning: Callable[[str], None]) -> Reader:
        """Return a reader of files and values that refuses times of an improbable unit."""

        def read(path: AnyPredictions, annotations: Annotations, *, progress: bool) -> tuple[Predictions, MatchReport]:
            predictions, match = self.read(path, annotations, progress=progress)
            name = path.name if isinstance(path, NamedValue) else path if is_file(path) else "predictions"
            self.how.refuse_units(match, name, on_warning)
            return predictions, match

        return read


@dataclass(frozen=True, kw_only=True)
class Testing(Request):
    """Settings of intervals and tests."""

    HEADING = "Intervals and tests"

    resamples: int = number("Resamples of the videos, for intervals.", 1000, 2, MOST_RESAMPLES)
    permutations: int = number("Swaps of the permutation test.", 10_000, 1, 10_000_000, rare=True)
    seed: int = seed("all draws")

    @property
    def draws(self) -> DrawSettings:
        """The settings as the functions of statistics use them."""
        from truemoment.evaluation.uncertainty import DrawSettings

        return DrawSettings(self.resamples, self.permutations, self.seed)


@dataclass(frozen=True, kw_only=True)
class NoCache(Request):
    """Whether slow results are cached."""

    HEADING = "Floors"

    no_cache: bool = no_cache()

    def cache(self, on_warning: Callable[[str], None] = ignore) -> Cache:
        """Return the cache of floors: that of the user, which warns once if it cannot be written, or none."""
        from truemoment.base.boundary.caching import NO_CACHE, Cache

        return NO_CACHE if self.no_cache else Cache.of_user(on_warning)


@dataclass(frozen=True, kw_only=True)
class FittedOn(Request):
    """Annotations on which floors are fitted."""

    HEADING = "Floors"

    fit_split: str | None = option("Split the floors are fitted on, or none. [default: train]", metavar="NAME")
    fit_annotations: In[AnyAnnotations | None] = option(
        "File of your own annotations to fit on, in place of a split.", metavar="FILE"
    )

    def check(self) -> None:
        """Make annotations of a Python value that is no file."""
        object.__setattr__(self, "fit_annotations", annotations_of(self.fit_annotations, "fit_annotations"))

    def training(self, origin: AnnotationSource | Annotations, reference: Annotations) -> Annotations | None:
        """Read the annotations on which floors are fitted, if any. `reference` are the annotations under test."""
        from truemoment.base.records import Annotations
        from truemoment.data.datasets.source import without_queries_of
        from truemoment.data.references import read_annotations

        train = self.fit_annotations
        if not isinstance(origin, Annotations) and not isinstance(train, Annotations):
            return origin.training(reference, self.fit_split, path_of(train))
        if train is not None:
            train = train if isinstance(train, Annotations) else read_annotations(Path(train), None)
            return without_queries_of(reference, train, "--fit-annotations")
        if self.fit_split not in {None, "none"}:
            raise UsageError(f"--fit-split {self.fit_split}: {NO_OTHER_SPLITS}")
        return None


@dataclass(frozen=True, kw_only=True)
class VerbEngine(Request):
    """Engine that finds verbs."""

    HEADING = "Floors"

    engine: str = option(
        "Engine that finds verbs: lexicon, spacy or spacy:MODEL.", "lexicon", metavar="NAME", rare=True
    )


@dataclass(frozen=True, kw_only=True)
class Fitting(FittedOn, NoCache):
    """Annotations on which floors are fitted, and their cache."""


@dataclass(frozen=True, kw_only=True)
class Workers(Request):
    """Who does the work: this machine or a cluster, and the number of processes."""

    HEADING = "Workers"

    engine: Literal["local", "ray"] = option(
        "This machine, or a Ray cluster (environment variable RAY_ADDRESS).", "local", rare=True
    )
    workers: int | None = number(
        "Number of worker processes. [default: 1; on a Ray cluster, all cores]", None, 1, 10_000
    )


def is_file(value: object) -> TypeGuard[str | os.PathLike[str]]:
    """Return whether a value names a file or folder."""
    return isinstance(value, str | os.PathLike)


class NamedValue(NamedTuple):
    """Predictions that are no file, and what messages and reports call them."""

    value: Any
    name: str


def named_value(value: Any, name: str) -> Path | NamedValue:  # noqa: ANN401 - any value
    """Return the path of a file, or another value with its name."""
    return Path(value) if is_file(value) else NamedValue(value, name)


def source_of_predictions(value: Path | NamedValue, predictions: Predictions) -> dict[str, str]:
    """Return path and hash of a file, or name and hash of another value, which contains `predictions`."""
    from truemoment.base.boundary.files import source_of

    return {"path": value.name, "sha256": predictions.sha256} if isinstance(value, NamedValue) else source_of(value)


def path_of(value: AnyAnnotations | None) -> Path | None:
    """Return a file or folder as a path; another value has none."""
    return Path(value) if is_file(value) else None


def annotations_of(value: AnyAnnotations | None, argument: str) -> Annotations | AnyFile | None:
    """Return a file's name as it is, and any other value as annotations; errors call it `argument`."""
    if value is None or is_file(value):
        return value
    from truemoment.base.records import Annotations

    if isinstance(value, Annotations):
        return value
    from truemoment.data import python_values

    return python_values.annotations_of(value, argument=argument)
