"""What the studies share: which systems, and where results go."""

from __future__ import annotations

import functools
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import click

from truemoment.cli.options import (
    MOST_RESAMPLES,
    STANDARD_OUTPUT,
    NamedFile,
    PredictionOptions,
    data_options,
    fit_options,
    followed,
    measuring_options,
    open_page,
    output_options,
    reading_options,
    refuse_files,
    refuse_outputs,
    told_path,
    write_json,
    write_text,
)
from truemoment.datasets.source import AnnotationSource, files_of
from truemoment.exceptions import MissingFileError, UsageError

if TYPE_CHECKING:
    import numpy as np

    from truemoment.measures import Measure
    from truemoment.metaevaluation.systems import Systems
    from truemoment.protocols import Protocol
    from truemoment.records import Annotations, Predictions
    from truemoment.reports.metaevaluation.chapter import Chapter
    from truemoment.reports.metaevaluation.verdict import Verdict
    from truemoment.scores import Scores

F = TypeVar("F", bound=Callable[..., Any])

SAVED = ".npz"
"""Ending of saved scores; every other file holds answers."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """The systems of a study.

    Parameters
    ----------
    systems
        Their per-query statistics.
    answers
        Answers of those that were read or made as answers, by name; systems of saved scores have none.
    annotations
        What they were held against; None where all are saved scores.
    fitted_on
        What baselines and simulated systems learned from; None for nothing.
    sources
        ``name``, ``path`` and ``sha256`` of each file.
    notes
        What became of queries that files do not answer, a sentence a file.
    simulated, baselines
        Names of the systems that are such.
    """

    systems: Systems
    answers: Mapping[str, Predictions]
    annotations: Annotations | None
    fitted_on: Annotations | None
    sources: list[dict[str, str]]
    notes: tuple[str, ...] = ()
    simulated: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()

    @property
    def made_up(self) -> str:
        """Which systems are simulated or baselines, in words; "" where none is."""
        kinds = ((len(self.simulated), "simulated (see 'meta population')"), (len(self.baselines), "blind baselines"))
        told = [f"{n} {'is' if n == 1 else 'are'} {kind}" for n, kind in kinds if n]
        return f"Of the {len(self.systems)} systems {' and '.join(told)}." if told else ""


@dataclass(frozen=True)
class SystemOptions:
    """Which systems were asked for, see :func:`system_options`."""

    words: tuple[str, ...]
    data: AnnotationSource
    protocol: str | None
    measures: str | None
    how: PredictionOptions
    population: bool
    baselines: bool
    fit_split: str | None
    fit_annotations: Path | None
    engine: str

    @property
    def files(self) -> list[NamedFile]:
        """The files that the words name, folders opened."""
        return named_files(self.words)

    @property
    def folders(self) -> list[Path]:
        """The folders among the words."""
        return folders_of(self.words)

    @property
    def inputs(self) -> list[Path | None]:
        """What is read, and must not be written over."""
        known = [self.data.annotations, self.fit_annotations, *files_of(self.data.dataset, self.data.data_dir)]
        return [*known, *(file.path for file in self.files)]

    def read(self, seed: int, *, show: bool, need_answers: bool = False) -> Chosen:
        """Read, simulate and measure the systems.

        Parameters
        ----------
        seed
            Of all draws; simulated systems and baselines each take a generator of their own, see :func:`stream`.
        show
            Whether somebody sees what is being done.
        need_answers
            Refuse saved scores: the study holds answers against other references.
        """
        import numpy as np

        from truemoment.evaluation import chosen_protocol, evaluate
        from truemoment.files import sha256_of
        from truemoment.measures import parse_measures
        from truemoment.protocols import get_protocol

        for_population, for_baselines = np.random.default_rng(seed).spawn(2)
        files = self.files
        saved = [file for file in files if not _is_answers(file)]
        if need_answers and saved:
            raise UsageError(
                f"{told_path(saved[0].path)}: saved scores hold no answers, which this study holds against other "
                "references; expected prediction files"
            )
        asked_protocol = None if self.protocol is None else get_protocol(self.protocol)
        asked = None if self.measures is None else parse_measures(self.measures)
        annotations = self._annotations(needed=len(saved) < len(files) or self.population or self.baselines)
        fitted_on = None
        if annotations is not None and (self.population or self.baselines):
            fitted_on = self.data.training(annotations, self.fit_split, self.fit_annotations)
        answers: dict[str, Predictions] = {}
        simulated: tuple[str, ...] = ()
        blind: tuple[str, ...] = ()
        with followed(show=show) as tell:
            scores = measured_files(files, annotations, self.how, asked, asked_protocol, tell, keep=answers)
            if annotations is not None and (self.population or self.baselines):
                made: dict[str, Predictions] = {}
                if self.population:
                    tell("simulating systems")
                    made |= _population(annotations, fitted_on, for_population)
                simulated = tuple(made)
                if self.baselines:
                    tell("running baselines")
                    made |= _baselines(annotations, fitted_on, self.engine, for_baselines)
                if twice := sorted(made.keys() & scores.keys()):
                    raise UsageError(f"{twice[0]!r} is the name of a simulated system or baseline; give NAME=FILE")
                measures = (
                    asked or _measures_of(scores) or default_measures(chosen_protocol(asked_protocol, annotations))
                )
                for name, of_system in made.items():
                    tell(f"measuring {name}")
                    scores[name] = evaluate(annotations, of_system, measures, asked_protocol)
                answers |= made
                blind = tuple(name for name in made if name not in simulated)
        named = [file.name for file in files]
        scores = {name: scores[name] for name in [*named, *(name for name in scores if name not in named)]}
        return Chosen(
            systems=paired_systems(scores, files),
            answers=answers,
            annotations=annotations,
            fitted_on=fitted_on,
            sources=[
                {"name": file.name, "path": told_path(file.path), "sha256": sha256_of(file.path)} for file in files
            ],
            notes=_unanswered(scores, named),
            simulated=simulated,
            baselines=blind,
        )

    def _annotations(self, *, needed: bool) -> Annotations | None:
        if not needed and self.data.dataset is None and self.data.annotations is None:
            return None
        return self.data.read()


def measured_files(
    files: Sequence[NamedFile],
    annotations: Annotations | None,
    how: PredictionOptions,
    measures: Sequence[Measure] | None,
    protocol: Protocol | None,
    tell: Callable[[str], None],
    *,
    keep: dict[str, Predictions] | None = None,
) -> dict[str, Scores]:
    """Read files of answers or saved scores, and measure the former; saved ones first.

    Parameters
    ----------
    files
        What is read.
    annotations
        What answers are held against; None where all files are saved scores.
    how
        How prediction files are read.
    measures
        None for those of the saved scores, or those of all studies where there are none.
    protocol
        None for the dataset's own.
    tell
        Told what is being done.
    keep
        Where answers are put that are needed later; None to forget them.
    """
    from truemoment.evaluation import chosen_protocol, evaluate

    scores: dict[str, Scores] = {}
    for file in sorted(files, key=_is_answers):
        tell(f"reading {file.name}")
        if not _is_answers(file):
            one = _saved_scores(file.path, measures, protocol)
        else:
            assert annotations is not None  # noqa: S101 - whoever has files of answers reads what they answer
            answers, _ = how.read(file.path, annotations, progress=False)
            asked = measures or _measures_of(scores) or default_measures(chosen_protocol(protocol, annotations))
            one = evaluate(annotations, answers, asked, protocol, on_unknown=how.on_unknown)
            if keep is not None:
                keep[file.name] = answers
        scores[file.name] = _sharing(one, next(iter(scores.values()), one))
    return scores


def stream(seed: int, study: str) -> np.random.Generator:
    """Return the generator of a study's own draws: the same whichever other studies are made."""
    from truemoment import uncertainty

    return uncertainty.stream(seed, study)


def _unanswered(scores: Mapping[str, Scores], names: Sequence[str]) -> tuple[str, ...]:
    """Say which files leave queries without an answer, or are changed by the protocol."""
    said = []
    for name in names:
        touched = [f"{words}: {n:,} of {len(scores[name]):,} queries" for words, n in scores[name].touched.items() if n]
        if touched:
            said.append(f"{name}: {'; '.join(touched)}.")
    return tuple(said)


def _is_answers(file: NamedFile) -> bool:
    return file.path.suffix.lower() != SAVED


def _saved_scores(path: Path, measures: Sequence[Measure] | None, protocol: Protocol | None) -> Scores:
    """Load saved scores, and of them the measures asked for."""
    from truemoment.exceptions import MeasureError
    from truemoment.scores import Scores

    scores = Scores.load(path)
    if protocol is not None and scores.protocol.signature() != protocol.signature():
        raise UsageError(
            f"{told_path(path)}: was measured by protocol {scores.protocol.name}, and holds no answers to measure by "
            f"{protocol.name}; expected predictions, or no --protocol"
        )
    try:
        return scores if measures is None else scores.only(measures)
    except MeasureError as error:
        raise UsageError(f"{told_path(path)}: {error}") from None


def _measures_of(scores: Mapping[str, Scores]) -> tuple[Measure, ...] | None:
    """The measures of scores at hand; None where there are none."""
    return next(iter(scores.values())).measures if scores else None


def default_measures(protocol: Protocol) -> tuple[Measure, ...]:
    """The measures of all studies, as far as a protocol can compute them: answers pooled into one have no ends."""
    from truemoment.measures import parse_measures
    from truemoment.metaevaluation.systems import DEFAULT_MEASURES

    pooled = protocol.references == "pooled"
    return tuple(of for of in parse_measures(DEFAULT_MEASURES) if not (pooled and of.needs_duration))


def _sharing(one: Scores, first: Scores) -> Scores:
    """The same scores, with what hundreds of systems have in common held in memory once."""
    import numpy as np

    if not np.array_equal(one.query_id, first.query_id) or not np.array_equal(one.video_id, first.video_id):
        return one
    weight = first.weight if np.array_equal(one.weight, first.weight) else one.weight
    return replace(one, query_id=first.query_id, video_id=first.video_id, weight=weight)


def paired_systems(scores: Mapping[str, Scores], files: Sequence[NamedFile]) -> Systems:
    """Set scores side by side; one that does not fit is called by its file, or its name where it has none."""
    from truemoment.metaevaluation.systems import Systems
    from truemoment.uncertainty import check_paired

    names, paths = list(scores), {file.name: told_path(file.path) for file in files}
    for name in names[1:]:
        try:
            check_paired([scores[names[0]], scores[name]])
        except UsageError as error:
            said = str(error).replace("scores 1 have", "has").replace("as in scores 0", f"as {names[0]} has")
            raise UsageError(f"{paths.get(name, name)}: {said}") from None
    return Systems(scores)


def _population(
    annotations: Annotations, train: Annotations | None, rng: np.random.Generator
) -> dict[str, Predictions]:
    from truemoment.metaevaluation.population import default_population
    from truemoment.metaevaluation.simulation import simulate_all

    return simulate_all(default_population(), annotations, rng, fit=train)


def _baselines(
    annotations: Annotations, train: Annotations | None, engine: str, rng: np.random.Generator
) -> dict[str, Predictions]:
    """Let every blind baseline answer that can be fitted."""
    from truemoment.baselines import BASELINES, Choices, make_baseline
    from truemoment.metaevaluation.simulation import TOP

    floors = [name for name, of in BASELINES.items() if of.kind == "floor"]
    answers = {}
    for name, child in zip(floors, rng.spawn(len(floors)), strict=True):
        if BASELINES[name].learns and train is None:
            continue
        grounder = make_baseline(name, Choices(child, engine=engine))
        answers[name] = (grounder if train is None else grounder.fit(train)).ground(annotations.queries, TOP)
    return answers


def folders_of(words: Sequence[str]) -> list[Path]:
    """The folders among some words."""
    return [named.path for named in map(NamedFile.read, words) if named.path.is_dir()]


def named_files(words: Sequence[str]) -> list[NamedFile]:
    """Read the arguments, SYSTEM or NAME=SYSTEM; of a folder every file, by name."""
    files: list[NamedFile] = []
    for named in map(NamedFile.read, words):
        if not named.path.exists():
            raise MissingFileError(f"{told_path(named.path)}: there is no such file or folder")
        if not named.path.is_dir():
            files.append(named)
            continue
        if named.given:
            raise UsageError(f"{told_path(named.path)}: is a folder, whose files have their own names; leave out NAME=")
        inside = sorted(path for path in named.path.iterdir() if not path.name.startswith(".") and not path.is_dir())
        if not inside:
            raise UsageError(f"{told_path(named.path)}: holds no file, expected predictions or saved scores")
        if unread := next((path for path in inside if not path.is_file()), None):
            raise UsageError(f"{told_path(unread)}: is no file that can be read, expected predictions or saved scores")
        files += [NamedFile.checked(NamedFile.own_name(path), path, given=False) for path in inside]
    by_name: dict[str, NamedFile] = {}
    for file in files:
        if file.name in by_name:
            raise UsageError(
                f"{told_path(by_name[file.name].path)} and {told_path(file.path)} would both be called {file.name!r}; "
                "give NAME=SYSTEM"
            )
        by_name[file.name] = file
    return files


def system_options(function: F) -> F:
    """Which systems, as `chosen`: SYSTEM..., what they are held against, --population, --baselines."""

    @functools.wraps(function)
    def collected(
        *args: Any,  # noqa: ANN401 - a command's own
        systems: tuple[str, ...],
        dataset: str | None,
        annotations: Path | None,
        split: str | None,
        data_dir: Path | None,
        protocol: str | None,
        measures: str | None,
        how: PredictionOptions,
        population: bool,
        baselines: bool,
        fit_split: str | None,
        fit_annotations: Path | None,
        engine: str,
        **others: Any,  # noqa: ANN401 - a command's own
    ) -> Any:  # noqa: ANN401 - a command's own
        chosen = SystemOptions(
            systems,
            AnnotationSource(dataset, annotations, split, data_dir),
            protocol,
            measures,
            how,
            population,
            baselines,
            fit_split,
            fit_annotations,
            engine,
        )
        return function(*args, chosen=chosen, **others)

    options: tuple[Callable[[Any], Any], ...] = (
        fit_options,
        click.option("--baselines", is_flag=True, help="Add every blind baseline."),
        click.option("--population", is_flag=True, help="Add the simulated systems, see 'meta population'."),
        reading_options,
        measuring_options,
        data_options,
        click.argument("systems", nargs=-1, metavar="[NAME=]SYSTEM..."),
    )
    wrapped: Any = collected
    for option in options:
        wrapped = option(wrapped)
    return cast(F, wrapped)


@dataclass(frozen=True)
class Output:
    """Where results go, see :func:`result_options`."""

    json_path: Path | None
    figures: Path | None
    html: Path | None
    open_it: bool
    style: Literal["md", "latex"] | None
    quiet: bool

    @property
    def show(self) -> bool:
        """Whether somebody sees what is being done."""
        return not self.quiet and sys.stderr.isatty()

    def check(self, inputs: Sequence[Path | None] = (), folders: Sequence[Path] = ()) -> None:
        """Refuse what cannot be written, before any work.

        Parameters
        ----------
        inputs
            Files that are read.
        folders
            Folders of which every file is read: nothing is put into them.
        """
        if (self.open_it and self.html is None) or self.html == STANDARD_OUTPUT:
            raise UsageError("--html: expected the name of a file, to write (and open) the page")
        refuse_files({"--figures": self.figures})
        refuse_outputs(inputs, [self.json_path, self.html])
        outputs = [path for path in (self.json_path, self.html, self.figures) if path not in (None, STANDARD_OUTPUT)]
        for path in outputs:
            if path != self.figures and path.is_dir():
                raise UsageError(f"{told_path(path)}: is a folder, expected a file to write to")
            above = {os.path.realpath(one) for one in (path, *path.absolute().parents)}
            if inside := next((one for one in folders if os.path.realpath(one) in above), None):
                raise UsageError(
                    f"{told_path(path)}: lies in {told_path(inside)}, every file of which is read as a system; "
                    "expected another place"
                )

    def deliver(
        self, chapters: Sequence[Chapter], read: Chosen | None, seed: int, *, verdict: Verdict | None = None
    ) -> None:
        """Show what was found: on the terminal, as JSON, as figures and as a page, whatever was asked for.

        Parameters
        ----------
        chapters
            A chapter a study.
        read
            The systems; None for studies without.
        seed
            Of all draws.
        verdict
            The answer over all studies, where it was asked for.
        """
        from truemoment.reports.metaevaluation import delivery

        if read is not None and verdict is None:
            notes = (*([read.made_up] if read.made_up else []), *read.notes)
            chapters = [replace(chapter, notes=(*notes, *chapter.notes)) for chapter in chapters]
        scores = None if read is None else read.systems.first
        sources = [] if read is None else read.sources
        if self.figures is not None:
            from truemoment.reports.drawing import save_drawings

            drawings = [drawing for chapter in chapters for drawing in chapter.drawings]
            save_drawings(drawings, self.figures, ("png", "svg"))
        if self.html is not None:
            from truemoment.reports.metaevaluation.page import page

            words = shlex.join(["truemoment", *sys.argv[1:]])
            text = page(chapters, verdict=verdict, scores=scores, sources=sources, seed=seed, command=words)
            write_text(self.html, text)
        if self.json_path is not None:
            document = (
                {"simulated": [], "baselines": []}
                if read is None
                else {
                    "simulated": list(read.simulated),
                    "baselines": list(read.baselines),
                }
            )
            document |= delivery.document(chapters, scores=scores, sources=sources, seed=seed, verdict=verdict)
            write_json(self.json_path, document)
        if self.json_path != STANDARD_OUTPUT:
            click.echo("\n".join(delivery.lines(chapters, style=self.style or "plain", verdict=verdict)))
        if self.html is not None:
            opened = self.open_it and open_page(self.html)
            if not self.quiet:
                said = f"page: {told_path(self.html)}{' (opened)' if opened else ''}"
                click.echo(said, err=self.json_path == STANDARD_OUTPUT)


def result_options(function: F) -> F:
    """Where results go, as `out`: --json, --figures, --html, --open, --table, --quiet."""

    @functools.wraps(function)
    def collected(
        *args: Any,  # noqa: ANN401 - a command's own
        json_path: Path | None,
        figures: Path | None,
        html: Path | None,
        open_it: bool,
        style: Literal["md", "latex"] | None,
        quiet: bool,
        **others: Any,  # noqa: ANN401 - a command's own
    ) -> Any:  # noqa: ANN401 - a command's own
        return function(*args, out=Output(json_path, figures, html, open_it, style, quiet), **others)

    options: tuple[Callable[[Any], Any], ...] = (
        output_options,
        click.option("--open", "open_it", is_flag=True, help="Open the page in the browser."),
        click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Write one page to be read."),
        click.option("--figures", type=click.Path(path_type=Path), metavar="DIR", help="Save the figures as PNG, SVG."),
    )
    wrapped: Any = collected
    for option in options:
        wrapped = option(wrapped)
    return cast(F, wrapped)


def resamples_option(function: F) -> F:
    """--resamples, of the videos."""
    return click.option(
        "--resamples",
        type=click.IntRange(2, MOST_RESAMPLES),
        default=1000,
        show_default=True,
        metavar="N",
        help="Resamples of the videos, for intervals.",
    )(function)


def trials_option(function: F) -> F:
    """--trials, of stability."""
    return click.option(
        "--trials",
        type=click.IntRange(2, 1_000_000),
        default=5000,
        show_default=True,
        metavar="N",
        help="Stability: pairs of subsets of each size.",
    )(function)


def sets_option(function: F) -> F:
    """--sets, of label noise."""
    return click.option(
        "--sets",
        type=click.IntRange(2, MOST_RESAMPLES),
        default=100,
        show_default=True,
        metavar="N",
        help="Label noise: noisy sets a level.",
    )(function)


def repetitions_option(function: F) -> F:
    """--repetitions, of power."""
    return click.option(
        "--repetitions",
        type=click.IntRange(2, 100_000),
        default=50,
        show_default=True,
        metavar="N",
        help="Power: subsets of each size.",
    )(function)


def workers_option(function: F) -> F:
    """--workers: threads; results do not depend on it."""
    return click.option(
        "--workers",
        type=click.IntRange(1, 256),
        metavar="N",
        help="Threads. Results are the same for any number. [default: one a core]",
    )(function)


def numbers(ctx: click.Context, param: click.Parameter, text: str | None) -> tuple[int, ...] | None:
    """Read whole numbers separated by commas, as of --sizes."""
    if text is None:
        return None
    words = [word.strip() for word in text.split(",")]
    read = [int(word) if word.isascii() and word.isdigit() and len(word) <= 12 else 0 for word in words]
    if min(read) < 1:
        raise click.BadParameter(f"got {text!r}, expected whole numbers as in 50,100,200", ctx=ctx, param=param)
    return tuple(read)
