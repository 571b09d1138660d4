"""truemoment bias: the location, verb and duration biases of datasets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from truemoment.base.errors import UsageError
from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver
from truemoment.cli.groups import Output, PageOutput, bound, output_options, page_options
from truemoment.cli.options import (
    FILE,
    count_option,
    data_dir_option,
    engine_option,
    refuse_outputs,
    seed_option,
    status_line,
)
from truemoment.cli.threads import threads_option
from truemoment.data.datasets.all_splits import AllSplits, splits_of_dataset, splits_of_file
from truemoment.data.datasets.source import files_of


@dataclass(frozen=True)
class Datasets:
    """Names of datasets and files that are surveyed, and their splits; none for all."""

    datasets: tuple[str, ...]
    files: tuple[Path, ...]
    splits: tuple[str, ...]
    data_dir: Path | None

    def refuse(self) -> None:
        """Refuse none, and a dataset twice, before files are read."""
        if not self.datasets and not self.files:
            raise UsageError("which datasets? give --dataset NAME or --annotations FILE, once or more")
        if len(set(self.datasets)) < len(self.datasets):
            raise UsageError("got a dataset twice, expected each once")

    def inputs(self) -> list[Path]:
        """Return the files that may be read."""
        return [*self.files, *(file for name in self.datasets for file in files_of(name, self.data_dir))]

    def read(self) -> list[AllSplits]:
        """Read every dataset, then every file."""
        named = [splits_of_dataset(name, self.splits, data_dir=self.data_dir) for name in self.datasets]
        return named + [splits_of_file(path, self.splits) for path in self.files]

    def sources(self) -> list[dict[str, str] | None]:
        """Return path and hash of each file; None for each dataset."""
        from truemoment.base.boundary.files import source_of

        return [None] * len(self.datasets) + [source_of(path) for path in self.files]


datasets_options = bound(
    "data",
    Datasets,
    click.option("--dataset", "datasets", multiple=True, metavar="NAME", help="A dataset; can be repeated."),
    click.option(
        "--annotations",
        "files",
        multiple=True,
        type=FILE,
        metavar="FILE",
        help="Your own annotations as JSON Lines, one dataset a file; can be repeated.",
    ),
    click.option("--split", "splits", multiple=True, metavar="NAME", help="Only this split; can be repeated."),
    data_dir_option,
    heading="Data",
)


@dataclass(frozen=True)
class Surveying:
    """How datasets are surveyed: language engine, number of verbs, draws and their seed."""

    engine: str
    top_verbs: int
    verbs: tuple[str, ...]
    permutations: int
    draws: int
    seed: int


surveying_options = bound(
    "surveying",
    Surveying,
    engine_option("Language engine that finds words and verbs: lexicon, spacy."),
    count_option("--top-verbs", 30, "Number of frequent verbs to show.", least=1, most=200),
    click.option(
        "--verb",
        "verbs",
        multiple=True,
        metavar="VERB",
        help="Draw the moments of this verb, e.g. cook, in its base form; can be repeated.",
    ),
    count_option("--permutations", 1000, "Number of permutations for tests between splits.", least=1, most=1_000_000),
    count_option("--draws", 200, "Number of draws for tests within a split, and for verbs.", least=1, most=1_000_000),
    seed_option("all draws"),
    heading="Survey",
)


@click.command("bias", cls=Command)
@datasets_options
@surveying_options
@threads_option(None)
@page_options
@output_options
def command(data: Datasets, surveying: Surveying, page: PageOutput, output: Output) -> None:
    """Report the location, verb and duration biases of datasets.

    \b
    truemoment bias --dataset charades-sta --dataset tacos --data-dir data --html bias.html --open
    truemoment bias --annotations mine.jsonl --json -
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.data.language import get_engine
    from truemoment.studies.bias import report as reports
    from truemoment.studies.bias.surveys import survey_all

    # Mistakes in the options are reported before files are read.
    data.refuse()
    page.refuse()
    refuse_outputs(data.inputs(), [page.html, output.json_path])
    engine = get_engine(surveying.engine)
    datasets, sources = data.read(), data.sources()
    with status_line(show=output.progress) as on_status:
        surveys = survey_all(
            datasets,
            engine,
            seed=surveying.seed,
            permutations=surveying.permutations,
            draws=surveying.draws,
            top_verbs=surveying.top_verbs,
            on_status=on_status,
        )
    report = reports.report(
        surveys, seed=surveying.seed, sources=sources, top_verbs=surveying.top_verbs, verbs=surveying.verbs
    )
    deliver(report, lambda: reports.document(surveys, seed=surveying.seed, sources=sources), output, page)
