"""Systems to study: read from files, simulated, or made by baselines; and variants of one system on two splits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.records import Annotations, Predictions
from truemoment.base.request import In, InDataset, argument, option
from truemoment.data.datasets.source import AnnotationSource
from truemoment.data.named_file import NamedFile
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
from truemoment.studies.request import (
    Data,
    FittedOn,
    Measuring,
    ReadingPredictions,
    VerbEngine,
    data_dir,
    dataset,
    measures,
    protocol,
)


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
class SystemSource(Data, ReadingPredictions, FittedOn, VerbEngine, Measuring):
    """Which systems are studied, and how they are measured.

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
        if len(saved) < len(files) or with_made or self.dataset is not None or self.annotations is not None:
            annotations = self.source.read()
            fitted_on = self.training(self.source, annotations) if with_made else None
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


@dataclass(frozen=True, kw_only=True)
class VariantSource(ReadingPredictions):
    """Variants of one system on a validation and a test split, to study model selection; equal names are one variant.

    Measures that select and measures that judge are text; None for the defaults.
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
        "Measures that select. [default: those of all studies, or all saved]", metavar="'A; B'"
    )
    test_measures: str | None = option(
        "Measures that judge. [default: the same without R@10,IoU=0.3]", metavar="'A; B'"
    )
    protocol: str | None = option("Evaluation convention. [default: the dataset's]", metavar="NAME[,FIELD=VALUE...]")

    def inputs(self) -> list[Path]:
        """Files that are read; names on one side only are refused."""
        validation, test = named_files(self.validation), named_files(self.test)
        for side, ours, theirs in (("--validation", validation, test), ("--test", test, validation)):
            known = {file.name for file in theirs}
            if alone := [file.name for file in ours if file.name not in known]:
                raise UsageError(
                    f"{side}: {few(alone)} {'is' if len(alone) == 1 else 'are'} on this side only, "
                    "expected files of the same names on both"
                )
        return [file.path for file in (*validation, *test)]

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
