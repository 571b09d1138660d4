"""Groups of options, each bound to one typed value: a command takes ``data`` rather than four parameters."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import click

from truemoment.base.boundary.caching import Cache
from truemoment.cli import options
from truemoment.cli.command import headed
from truemoment.data.datasets.source import AnnotationSource
from truemoment.evaluation.measures import Measure, parse_measures
from truemoment.evaluation.protocols import Protocol, get_protocol
from truemoment.evaluation.uncertainty import DrawSettings

F = TypeVar("F", bound=Callable[..., Any])


def bound(name: str, kind: type, *decorators: Callable[[Any], Any], heading: str | None = None) -> Callable[[F], F]:
    """Add options to a command, which takes them as one value; its fields are the names of the options' parameters.

    The help lists them under a heading.
    """
    names = [field.name for field in fields(kind)]

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def command(*args: Any, **given: Any) -> Any:  # noqa: ANN401 - a command's own
            return function(*args, **{name: kind(**{of: given.pop(of) for of in names})}, **given)

        return cast(F, options.together(*decorators)(command))

    return decorate if heading is None else headed(heading, decorate)


data_options = bound(
    "data",
    AnnotationSource,
    options.dataset_option,
    options.annotations_option,
    options.split_option,
    options.data_dir_option,
    heading="Data",
)
"""--dataset or --annotations, --split, --data-dir, as ``data``."""


@dataclass(frozen=True)
class Learning:
    """What a recipe is trained on, and what is changed in it."""

    dataset: str | None
    annotations: Path | None
    data_dir: Path | None
    features: str | None
    tests: tuple[str, ...]
    changes: tuple[str, ...]

    @property
    def source(self) -> AnnotationSource:
        """The annotations."""
        return AnnotationSource(self.dataset, self.annotations, None, self.data_dir)

    def files(self) -> list[Path | None]:
        """Return the files that are read."""
        return [*self.source.files(), options.source_file(self.features)]


learning_options = bound("learning", Learning, options.learning_options, heading="Data and recipe")
"""--dataset or --annotations, --data-dir, --features, --test and --set, as ``learning``."""


@dataclass(frozen=True)
class Measuring:
    """What is measured, as the options write it; None for the default."""

    measures: str | None
    protocol: str | None

    def parsed_measures(self) -> tuple[Measure, ...] | None:
        """Return the measures; None for the protocol's own."""
        return None if self.measures is None else tuple(parse_measures(self.measures))

    def parsed_protocol(self) -> Protocol | None:
        """Return the protocol; None for the dataset's own."""
        return None if self.protocol is None else get_protocol(self.protocol)

    def protocol_words(self) -> list[str]:
        """Return the option that names the protocol, if it was given."""
        return [] if self.protocol is None else ["--protocol", self.protocol]


measuring_options = bound("measuring", Measuring, options.measuring_options, heading="Measures")
"""--measures and --protocol, as ``measuring``."""


testing_options = bound(
    "testing",
    DrawSettings,
    options.testing_options,
    options.seed_option("all draws"),
    heading="Intervals and tests",
)
"""--resamples, --permutations and --seed, as ``testing``."""


@dataclass(frozen=True)
class Fitting:
    """What baselines are fitted on."""

    fit_split: str | None
    fit_annotations: Path | None
    no_cache: bool

    def cache(self) -> Cache:
        """Return the user's cache of floors, which warns once if nothing can be stored, or no cache."""
        return options.floors_cache(no_cache=self.no_cache)


fitting_options = bound("fitting", Fitting, options.train_options, options.no_cache_option, heading="Floors")
"""--fit-split, --fit-annotations and --no-cache, as ``fitting``."""


@dataclass(frozen=True)
class Workers:
    """Who does the work: this machine or a cluster, and the number of processes."""

    engine: str
    workers: int | None


workers_options = bound("processes", Workers, options.worker_options, heading="Workers")
"""--engine and --workers, as ``processes``."""


@dataclass(frozen=True)
class Output:
    """Where results go, in which format, and whether notes and progress are left out."""

    json_path: Path | None
    style: Literal["md", "latex"] | None
    quiet: bool

    @property
    def json_only(self) -> bool:
        """Whether standard output has nothing but JSON."""
        return self.json_path == options.STANDARD_OUTPUT

    @property
    def progress(self) -> bool:
        """Whether progress is shown: as a bar on a terminal, else as a line every ten seconds."""
        return not self.quiet


output_options = bound("output", Output, options.output_options, heading="Output")
"""--json, --table and --quiet, as ``output``."""


@dataclass(frozen=True)
class PageOutput:
    """The page of a report, whether it is opened in a browser, and the folder of its figures."""

    html: Path | None
    open_it: bool
    figures: Path | None

    def refuse(self) -> None:
        """Refuse options that do not fit together, and a folder that is a file, before any work."""
        options.refuse_page(self.html, open_it=self.open_it)
        options.refuse_files({"--figures": self.figures})


page_options = bound(
    "page",
    PageOutput,
    click.option("--html", type=options.FILE, metavar="FILE", help="Write the report as a page."),
    click.option("--open", "open_it", is_flag=True, help="Open the page in a browser."),
    click.option("--figures", type=options.FILE, metavar="DIR", help="Save the figures as PNG, SVG and PDF."),
    heading="Page and figures",
)
"""--html, --open and --figures, as ``page``."""
