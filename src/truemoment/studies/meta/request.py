"""Requests of studies of measures: the systems, variants of one, the noise of labels, and the numbers of draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from truemoment.base.errors import MissingFileError, UsageError
from truemoment.base.request import MOST_RESAMPLES, In, InDataset, Request, argument, ignore, number, option, seed
from truemoment.data.named_file import NamedFile
from truemoment.report.words import few
from truemoment.studies.request import (
    FittedOn,
    MappedData,
    Measuring,
    ReadingAnnotations,
    ReadingPredictions,
    VerbEngine,
    data_dir,
    dataset,
    measures,
    protocol,
)

if TYPE_CHECKING:
    from truemoment.base.records import Annotations, Predictions
    from truemoment.evaluation.measures import Measure
    from truemoment.studies.meta.loading import LoadedSystems
    from truemoment.studies.meta.noise import NoiseModel
    from truemoment.studies.meta.systems import Systems

NOISE = ("published", "shift", "annotators", "longer")
"""Names of the models of label noise."""


def named_files(words: Sequence[str]) -> tuple[NamedFile, ...]:
    """Read SYSTEM or NAME=SYSTEM: a file, or a folder whose files are all systems, in the order of their names."""
    files: list[NamedFile] = []
    for named in map(NamedFile.read, words):
        path = named.path
        if not named.path.exists():
            raise MissingFileError(f"{path}: there is no such file or folder")
        if not named.path.is_dir():
            files.append(named)
            continue
        if named.is_named:
            raise UsageError(f"{path}: is a folder, whose files have their own names; leave out NAME=")
        paths = sorted(file for file in named.path.iterdir() if not file.name.startswith(".") and not file.is_dir())
        if not paths:
            raise UsageError(f"{path}: contains no file, expected predictions or saved scores")
        if unread := next((file for file in paths if not file.is_file()), None):
            raise UsageError(f"{unread}: cannot be read as a file, expected predictions or saved scores")
        files += [NamedFile.checked(NamedFile.own_name(file), file, is_named=False) for file in paths]
    by_name: dict[str, NamedFile] = {}
    for file in files:
        if file.name in by_name:
            raise UsageError(
                f"{by_name[file.name].path} and {file.path} would both be called {file.name!r}; give NAME=SYSTEM"
            )
        by_name[file.name] = file
    return tuple(files)


def folders_of(words: Sequence[str]) -> list[Path]:
    """Return the folders among some words."""
    return [named.path for named in map(NamedFile.read, words) if named.path.is_dir()]


@dataclass(frozen=True)
class SystemSource(MappedData, ReadingPredictions, FittedOn, VerbEngine, Measuring):
    """The systems of a study, and how they are measured.

    Prediction files of any format, saved scores (.npz), or folders of these; ``NAME=FILE`` names a system. Measures and
    protocol are text; None for the dataset's protocol and the measures of all studies.

    Examples
    --------
    >>> source = SystemSource(("ours.jsonl", "runs/"), annotations="mine.jsonl", split="test")
    >>> systems = source.load(seed=0).systems  # doctest: +SKIP
    """

    HEADING = "Systems"

    systems: tuple[str, ...] = argument(metavar="[NAME=]SYSTEM...", required=False)
    _: KW_ONLY
    protocol: str | None = protocol()
    measures: str | None = measures()
    population: bool = option("Add the simulated systems, see 'meta population'.", False)
    baselines: bool = option("Add every blind baseline.", False)

    @property
    def files(self) -> tuple[NamedFile, ...]:
        """The files of the systems."""
        return named_files(self.systems)

    def inputs(self) -> list[Path]:
        """Return the files of the systems."""
        return [file.path for file in self.files]

    @property
    def folders(self) -> list[Path]:
        """Folders whose files are all read as systems."""
        return folders_of(self.systems)

    def load(
        self, seed: int = 0, *, on_status: Callable[[str], None] = ignore, need_predictions: bool = False
    ) -> LoadedSystems:
        """Read, simulate and measure the systems; with `need_predictions`, refuse saved scores."""
        from truemoment.evaluation.evaluate import evaluate, resolve_protocol
        from truemoment.evaluation.measures import parse_measures
        from truemoment.evaluation.protocols import get_protocol
        from truemoment.studies.meta import loading

        files = self.files
        saved = [file for file in files if not loading.has_predictions(file)]
        if need_predictions and saved:
            raise UsageError(
                f"{saved[0].path}: saved scores contain no predictions, which this study compares with "
                "other references; expected prediction files"
            )
        protocol = None if self.protocol is None else get_protocol(self.protocol)
        measures = None if self.measures is None else parse_measures(self.measures)
        with_made = self.population or self.baselines
        annotations, fitted_on = None, None
        if len(saved) < len(files) or with_made or self.dataset is not None or self.annotations is not None:
            annotations = self.source.read()
            fitted_on = self.training(self.source, annotations) if with_made else None
        predictions: dict[str, Predictions] = {}
        scores = loading.measured_files(
            files, annotations, self.how, measures=measures, protocol=protocol, on_status=on_status, keep=predictions
        )
        scores = {file.name: scores[file.name] for file in files}
        notes = loading.incomplete(scores)
        simulated: dict[str, Predictions] = {}
        blind: dict[str, Predictions] = {}
        if annotations is not None and with_made:
            simulated, blind = self._make_systems(annotations, fitted_on, seed, on_status)
            if repeated := sorted((simulated | blind).keys() & scores.keys()):
                raise UsageError(f"{repeated[0]!r} is the name of a simulated system or baseline; give NAME=FILE")
            selected = measures or loading.measures_for(scores, resolve_protocol(protocol, annotations))
            for name, answers in (simulated | blind).items():
                on_status(f"measuring {name}")
                scores[name] = evaluate(annotations, answers, selected, protocol)
        return loading.LoadedSystems(
            systems=loading.paired_systems(scores, files),
            predictions=predictions | simulated | blind,
            annotations=annotations,
            fitted_on=fitted_on,
            sources=loading.sources_of(files),
            incomplete=notes,
            simulated=tuple(simulated),
            baselines=tuple(blind),
        )

    def _make_systems(
        self, annotations: Annotations, train: Annotations | None, seed: int, on_status: Callable[[str], None]
    ) -> tuple[dict[str, Predictions], dict[str, Predictions]]:
        import numpy as np

        from truemoment.baselines import BASELINES, Choices, make_baseline
        from truemoment.studies.meta.population import default_population
        from truemoment.studies.meta.simulation import TOP, simulate_all

        for_population, for_baselines = np.random.default_rng(seed).spawn(2)
        simulated: dict[str, Predictions] = {}
        blind: dict[str, Predictions] = {}
        if self.population:
            on_status("simulating systems")
            simulated = dict(simulate_all(default_population(), annotations, for_population, fit=train))
        if self.baselines:
            on_status("running baselines")
            floors = [name for name, baseline in BASELINES.items() if baseline.kind == "floor"]
            for name, child in zip(floors, for_baselines.spawn(len(floors)), strict=True):
                if BASELINES[name].learns and train is None:
                    continue
                grounder = make_baseline(name, Choices(child, engine=self.engine))
                fitted = grounder if train is None else grounder.fit(train)
                blind[name] = fitted.ground(annotations.queries, TOP)
        return simulated, blind


@dataclass(frozen=True, kw_only=True)
class VariantSource(ReadingPredictions, ReadingAnnotations):
    """Variants of one system on a validation and a test split, for model selection; equal names are one variant.

    The measures for selection and for the test are text; None for the defaults.
    """

    HEADING = "Variants"

    validation: tuple[str, ...] = option(
        "Variants on the validation split: a folder, or files one by one.", metavar="DIR|FILE", required=True
    )
    test: tuple[str, ...] = option(
        "The same variants on the test split, with the same names.", metavar="DIR|FILE", required=True
    )
    dataset: InDataset[str | None] = dataset()
    validation_split: str | None = option("Split of the validation files, e.g. val.", metavar="NAME")
    split: str | None = option("Split of the test files, e.g. test.", metavar="NAME")
    validation_annotations: In[Path | None] = option(
        "Your own annotations for validation, in place of --dataset.", metavar="FILE"
    )
    annotations: In[Path | None] = option("Your own annotations for the test.", metavar="FILE")
    data_dir: Path | None = data_dir()
    measures: str | None = option(
        "Measures by which a variant is selected. [default: those of all studies, or all saved]", metavar="'A; B'"
    )
    test_measures: str | None = option(
        "Measures by which the selected variants are judged. [default: the same without R@10,IoU=0.3]", metavar="'A; B'"
    )
    protocol: str | None = option("Evaluation convention. [default: the dataset's]", metavar="NAME[,FIELD=VALUE...]")

    def inputs(self) -> list[Path]:
        """Return the files of both sides; refuse names on one side only."""
        validation, test = named_files(self.validation), named_files(self.test)
        for side, files, others in (("--validation", validation, test), ("--test", test, validation)):
            known = {file.name for file in others}
            if unpaired := [file.name for file in files if file.name not in known]:
                raise UsageError(
                    f"{side}: {few(unpaired)} {'is' if len(unpaired) == 1 else 'are'} on this side only, "
                    "expected files of the same names on both"
                )
        return [file.path for file in (*validation, *test)]

    @property
    def folders(self) -> list[Path]:
        """Folders whose files are all read as variants."""
        return folders_of([*self.validation, *self.test])

    def load(self, on_status: Callable[[str], None] = ignore) -> tuple[Systems, LoadedSystems]:
        """Read and measure the variants on the validation and test splits."""
        from truemoment.evaluation.measures import parse_measures
        from truemoment.studies.meta.loading import LoadedSystems, sources_of
        from truemoment.studies.meta.selection import without_saturated

        selecting = None if self.measures is None else parse_measures(self.measures)
        judging = selecting if self.test_measures is None else parse_measures(self.test_measures)
        files = named_files(self.validation), named_files(self.test)
        file, split = self.validation_annotations, self.validation_split
        validation, _ = self._side("validation-", files[0], file, split, measures=selecting, on_status=on_status)
        test, annotations = self._side(
            "", files[1], self.annotations, self.split, measures=judging, on_status=on_status
        )
        if self.test_measures is None:
            test = without_saturated(test)
        sources = (*sources_of(files[0], side="validation"), *sources_of(files[1], side="test"))
        return validation, LoadedSystems(test, annotations=annotations, sources=sources)

    def _side(
        self,
        option: str,
        files: Sequence[NamedFile],
        file: Path | None,
        split: str | None,
        *,
        measures: Sequence[Measure] | None,
        on_status: Callable[[str], None],
    ) -> tuple[Systems, Annotations | None]:
        from truemoment.data.datasets.source import AnnotationSource
        from truemoment.evaluation.protocols import get_protocol
        from truemoment.studies.meta import loading

        protocol = None if self.protocol is None else get_protocol(self.protocol)
        annotations = None
        if any(map(loading.has_predictions, files)):
            if file is None and (self.dataset is None or split is None):
                raise UsageError(
                    f"which annotations? prediction files need --dataset NAME with --{option}split NAME, or "
                    f"--{option}annotations FILE"
                )
            dataset = None if file is not None else self.dataset
            annotations = AnnotationSource(dataset, file, split, self.data_dir, self.how_references).read()
        scores = loading.measured_files(
            files, annotations, self.how, measures=measures, protocol=protocol, on_status=on_status
        )
        return loading.paired_systems({name: scores[name] for name in sorted(scores)}, files), annotations


@dataclass(frozen=True, kw_only=True)
class NoiseSource(Request):
    """Options for the models of label noise."""

    HEADING = "Noise"

    kinds: tuple[str, ...] = option(
        "Model of label noise; may be given several times.", ("published", "shift"), name="--noise", choices=NOISE
    )
    marked_by: InDataset[str | None] = option(
        "Learn noise from a dataset with several annotators, e.g. human-charades, or from your own annotations.",
        name="--annotators",
        metavar="NAME|FILE",
    )

    def models(self, data_dir: Path | None) -> dict[str, Sequence[NoiseModel]]:
        """Return the levels of each model by its name."""
        kinds = self.kinds if self.marked_by is None else (*self.kinds, "annotators")
        return {kind: self._levels(kind, data_dir) for kind in kinds}

    def _levels(self, kind: str, data_dir: Path | None) -> Sequence[NoiseModel]:
        from truemoment.data.datasets import DATASETS, load_annotations
        from truemoment.data.references import read_annotations
        from truemoment.evaluation.agreement import Annotators
        from truemoment.studies.meta import noise

        if kind == "longer":
            return [noise.LongerNoise(deviation_s) for deviation_s in noise.DEVIATIONS_S]
        if kind != "annotators":
            model = noise.PublishedNoise if kind == "published" else noise.ShiftNoise
            return [model(variance) for variance in noise.VARIANCES_S2]
        if self.marked_by is None:
            raise UsageError("--noise annotators: also give --annotators NAME, e.g. human-charades, or FILE")
        if self.marked_by in DATASETS:
            marked = load_annotations(self.marked_by, "test", data_dir=data_dir)
        else:
            marked = read_annotations(Path(self.marked_by), None)
        learned = noise.AnnotatorNoise.learn(Annotators.of(marked))
        return [replace(learned, n_raters=n_raters) for n_raters in noise.ANNOTATOR_LEVELS]


@dataclass(frozen=True, kw_only=True)
class Effort(Request):
    """Numbers of draws of the studies."""

    trials: int = number("Stability: pairs of subsets of each size.", 5000, 2, 1_000_000)
    sets: int = number("Label noise: noisy sets per level.", 100, 2, MOST_RESAMPLES)
    repetitions: int = number("Power: subsets of each size.", 50, 2, 100_000)
    resamples: int = number("Number of resamples of the videos, for intervals.", 1000, 2, MOST_RESAMPLES)
    validation_split: str | None = option(
        "Also study selection: simulated variants, selected on this split and tested on --split.", metavar="NAME"
    )
    variants: int = number("Selection: number of simulated variants.", 64, 2, 10_000)
    seed: int = seed("all draws")
    workers: int | None = number("Number of threads. Results do not depend on it. [default: all cores]", None, 1, 256)
