"""Systems to study: read from files, simulated, or made by baselines; and variants of one system on two splits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.records import Annotations, Predictions
from truemoment.data.datasets.source import AnnotationSource, files_of
from truemoment.data.formats.prediction_files import NamedFile, PredictionOptions
from truemoment.evaluation.evaluate import evaluate, resolve_protocol
from truemoment.evaluation.measures import Measure, parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.report.words import few
from truemoment.studies.meta.population import default_population
from truemoment.studies.meta.selection import without_saturated
from truemoment.studies.meta.simulation import TOP, simulate_all
from truemoment.studies.meta.system_files import (
    folders_of,
    has_predictions,
    incomplete,
    measured_files,
    measures_for,
    named_files,
    paired_systems,
    sources_of,
)
from truemoment.studies.meta.systems import Systems


def ignore(_: str) -> None:
    """Ignore a line about what is being done."""


@dataclass(frozen=True, eq=False)
class LoadedSystems:
    """Systems with what is known of them.

    Parameters
    ----------
    predictions
        Predictions by name of system; saved scores have none.
    annotations
        The references; None where all systems are saved scores.
    fitted_on
        Annotations that baselines and simulated systems learned from; None for none.
    sources
        ``name``, ``path`` and ``sha256`` of each file.
    incomplete
        A note for each file with unanswered queries.
    """

    systems: Systems
    predictions: Mapping[str, Predictions] = field(default_factory=dict)
    annotations: Annotations | None = None
    fitted_on: Annotations | None = None
    sources: tuple[dict[str, str], ...] = ()
    incomplete: tuple[str, ...] = ()
    simulated: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader has to know of the systems."""
        kinds = ((len(self.simulated), "simulated (see 'meta population')"), (len(self.baselines), "blind baselines"))
        made = [f"{n} {'is' if n == 1 else 'are'} {kind}" for n, kind in kinds if n]
        return (*([f"Of the {len(self.systems)} systems {' and '.join(made)}."] if made else []), *self.incomplete)


@dataclass(frozen=True)
class SystemSource:
    """Which systems are studied, and how they are measured.

    Parameters
    ----------
    systems
        Prediction files of any format, saved scores (.npz), or folders of these; ``NAME=FILE`` names a system.
    protocol, measures
        As text; None for the dataset's protocol and the measures of all studies.
    population, baselines
        Whether the simulated systems and the blind baselines are added.
    fit_split, fit_annotations
        Split or file that these are fitted on; None for the training split.

    Examples
    --------
    >>> from pathlib import Path
    >>> source = SystemSource(("ours.jsonl", "runs/"), AnnotationSource(annotations=Path("mine.jsonl"), split="test"))
    >>> systems = source.load(seed=0).systems  # doctest: +SKIP
    """

    systems: tuple[str, ...] = ()
    data: AnnotationSource = field(default_factory=AnnotationSource)
    protocol: str | None = None
    measures: str | None = None
    how: PredictionOptions = field(default_factory=PredictionOptions)
    population: bool = False
    baselines: bool = False
    fit_split: str | None = None
    fit_annotations: Path | None = None
    engine: str = "lexicon"

    @property
    def files(self) -> tuple[NamedFile, ...]:
        """The files of the systems."""
        return named_files(self.systems)

    @property
    def inputs(self) -> list[Path]:
        """Files that are read."""
        fitted = [] if self.fit_annotations is None else [self.fit_annotations]
        return [*self.data.files(), *fitted, *(file.path for file in self.files)]

    @property
    def folders(self) -> list[Path]:
        """Folders whose files are all read as systems."""
        return folders_of(self.systems)

    def training(self, annotations: Annotations) -> Annotations | None:
        """Read what simulated systems and baselines are fitted on; None for nothing."""
        return self.data.training(annotations, self.fit_split, self.fit_annotations)

    def load(
        self, seed: int = 0, *, on_status: Callable[[str], None] = ignore, need_predictions: bool = False
    ) -> LoadedSystems:
        """Read, simulate and measure the systems; with `need_predictions`, refuse saved scores."""
        files = self.files
        saved = [file for file in files if not has_predictions(file)]
        if need_predictions and saved:
            raise UsageError(
                f"{saved[0].path}: saved scores contain no predictions, which this study compares with "
                "other references; expected prediction files"
            )
        protocol = None if self.protocol is None else get_protocol(self.protocol)
        measures = None if self.measures is None else parse_measures(self.measures)
        with_made = self.population or self.baselines
        annotations, fitted_on = None, None
        if len(saved) < len(files) or with_made or self.data.dataset is not None or self.data.annotations is not None:
            annotations = self.data.read()
            fitted_on = self.training(annotations) if with_made else None
        predictions: dict[str, Predictions] = {}
        scores = measured_files(
            files, annotations, self.how, measures=measures, protocol=protocol, on_status=on_status, keep=predictions
        )
        scores = {file.name: scores[file.name] for file in files}
        notes = incomplete(scores)
        simulated: dict[str, Predictions] = {}
        blind: dict[str, Predictions] = {}
        if annotations is not None and with_made:
            simulated, blind = self._made(annotations, fitted_on, seed, on_status)
            if twice := sorted((simulated | blind).keys() & scores.keys()):
                raise UsageError(f"{twice[0]!r} is the name of a simulated system or baseline; give NAME=FILE")
            selected = measures or measures_for(scores, resolve_protocol(protocol, annotations))
            for name, of_system in (simulated | blind).items():
                on_status(f"measuring {name}")
                scores[name] = evaluate(annotations, of_system, selected, protocol)
        return LoadedSystems(
            systems=paired_systems(scores, files),
            predictions=predictions | simulated | blind,
            annotations=annotations,
            fitted_on=fitted_on,
            sources=sources_of(files),
            incomplete=notes,
            simulated=tuple(simulated),
            baselines=tuple(blind),
        )

    def _made(
        self, annotations: Annotations, train: Annotations | None, seed: int, on_status: Callable[[str], None]
    ) -> tuple[dict[str, Predictions], dict[str, Predictions]]:
        from truemoment.baselines import (  # noqa: PLC0415 - only these systems need it, and importing takes time
            BASELINES,
            Choices,
            make_baseline,
        )

        for_population, for_baselines = np.random.default_rng(seed).spawn(2)
        simulated: dict[str, Predictions] = {}
        blind: dict[str, Predictions] = {}
        if self.population:
            on_status("simulating systems")
            simulated = dict(simulate_all(default_population(), annotations, for_population, fit=train))
        if self.baselines:
            on_status("running baselines")
            floors = [name for name, of in BASELINES.items() if of.kind == "floor"]
            for name, child in zip(floors, for_baselines.spawn(len(floors)), strict=True):
                if BASELINES[name].learns and train is None:
                    continue
                grounder = make_baseline(name, Choices(child, engine=self.engine))
                fitted = grounder if train is None else grounder.fit(train)
                blind[name] = fitted.ground(annotations.queries, TOP)
        return simulated, blind


@dataclass(frozen=True)
class VariantSource:
    """Variants of one system on a validation and a test split, to study model selection.

    Parameters
    ----------
    validation, test
        Files or folders of the variants on either split; equal names are one variant.
    measures, test_measures
        Measures that select and measures that judge, as text; None for the defaults.
    """

    validation: tuple[str, ...]
    test: tuple[str, ...]
    dataset: str | None = None
    validation_split: str | None = None
    split: str | None = None
    validation_annotations: Path | None = None
    annotations: Path | None = None
    data_dir: Path | None = None
    measures: str | None = None
    test_measures: str | None = None
    protocol: str | None = None
    how: PredictionOptions = field(default_factory=PredictionOptions)

    @property
    def inputs(self) -> list[Path | None]:
        """Files that are read; names on one side only are refused."""
        validation, test = named_files(self.validation), named_files(self.test)
        for option, ours, theirs in (("--validation", validation, test), ("--test", test, validation)):
            known = {file.name for file in theirs}
            if alone := [file.name for file in ours if file.name not in known]:
                raise UsageError(
                    f"{option}: {few(alone)} {'is' if len(alone) == 1 else 'are'} on this side only, "
                    "expected files of the same names on both"
                )
        known_files = files_of(self.dataset, self.data_dir)
        own = (self.validation_annotations, self.annotations)
        return [*(file.path for file in (*validation, *test)), *own, *known_files]

    @property
    def folders(self) -> list[Path]:
        """Folders whose files are all read as variants."""
        return folders_of([*self.validation, *self.test])

    def load(self, on_status: Callable[[str], None] = ignore) -> tuple[Systems, LoadedSystems]:
        """Read and measure the variants on validation and test."""
        selecting = None if self.measures is None else parse_measures(self.measures)
        judging = selecting if self.test_measures is None else parse_measures(self.test_measures)
        files = named_files(self.validation), named_files(self.test)
        own, split = self.validation_annotations, self.validation_split
        validation, _ = self._side("validation-", files[0], own, split, measures=selecting, on_status=on_status)
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
        own: Path | None,
        split: str | None,
        *,
        measures: Sequence[Measure] | None,
        on_status: Callable[[str], None],
    ) -> tuple[Systems, Annotations | None]:
        protocol = None if self.protocol is None else get_protocol(self.protocol)
        annotations = None
        if any(map(has_predictions, files)):
            if own is None and (self.dataset is None or split is None):
                raise UsageError(
                    f"which annotations? prediction files need --dataset NAME with --{option}split NAME, or "
                    f"--{option}annotations FILE"
                )
            annotations = AnnotationSource(None if own is not None else self.dataset, own, split, self.data_dir).read()
        scores = measured_files(files, annotations, self.how, measures=measures, protocol=protocol, on_status=on_status)
        return paired_systems({name: scores[name] for name in sorted(scores)}, files), annotations
