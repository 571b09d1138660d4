"""truemoment resplit: split a dataset again, so that guessing where moments usually are helps less."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from truemoment.base.boundary.files import read_number
from truemoment.base.errors import UsageError
from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver
from truemoment.cli.groups import Output, bound, output_options
from truemoment.cli.options import (
    FILE,
    STANDARD_OUTPUT,
    annotations_option,
    count_option,
    data_dir_option,
    dataset_option,
    engine_option,
    floors_cache,
    no_cache_option,
    refuse_folder,
    refuse_outputs,
    say,
    seed_option,
    status_line,
)
from truemoment.cli.threads import threads_option
from truemoment.data.datasets import DATASETS
from truemoment.data.datasets.random_order import ORDERS, Order
from truemoment.data.datasets.source import files_of
from truemoment.data.datasets.whole import WholeDataset, whole_dataset, whole_file

if TYPE_CHECKING:
    from truemoment.studies.bias.shifts import Shift
    from truemoment.studies.bias.splitting import Plan

SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
SHIFTS = ("location", "words", "compositions")
PLACES = ("start-end", "start-length", "middle-length", "middle-log-length", "seconds")


@dataclass(frozen=True)
class Whole:
    """Which dataset is split: by name or file, all splits or some, and the folder of the datasets."""

    dataset: str | None
    annotations: Path | None
    splits: tuple[str, ...]
    data_dir: Path | None

    def read(self, folder: Path) -> WholeDataset:
        """Read all queries, for a folder to be made of them."""
        if self.dataset is not None and self.annotations is not None:
            raise UsageError("got --dataset and --annotations, expected one of them")
        if self.annotations is not None:
            if self.splits:
                raise UsageError("got --split with --annotations; expected no --split, because all of a file is split")
            return whole_file(self.annotations, folder)
        if self.dataset is None:
            raise UsageError("which dataset? give --dataset NAME or --annotations FILE")
        found = whole_dataset(self.dataset, self.splits, data_dir=self.data_dir)
        for name in found.missing:
            say(f"{self.dataset}: {name} is missing and is left out", err=True)
        return found


whole_options = bound(
    "data",
    Whole,
    dataset_option,
    annotations_option,
    click.option(
        "--split", "splits", multiple=True, metavar="NAME", help="Only this split; can be repeated. [default: all]"
    ),
    data_dir_option,
    heading="Data",
)


@dataclass(frozen=True)
class SplitOptions:
    """How the dataset is split, as the options write it."""

    shifts: tuple[str, ...]
    ood: float
    val: float
    iid: float
    marked: float | None
    longest: str | None
    ties: Literal["ood", "rest"] | None
    place: str
    width: float | None

    def plan(self) -> Plan:
        """Return the plan; refuse options of a shift of location without one."""
        from truemoment.studies.bias.shifts import LocationShift, WordShift
        from truemoment.studies.bias.splitting import Plan

        names = dict.fromkeys(self.shifts or ("location",))
        shifts: list[Shift] = [
            LocationShift(self.place, self.width) if name == "location" else WordShift(name)  # type: ignore[arg-type]  # choices
            for name in names
        ]
        of_location = {"--marked": self.marked, "--longest": self.longest, "--width": self.width}
        given = [option for option, value in of_location.items() if value is not None]
        if "location" not in names and (given or self.place != "start-end"):
            raise UsageError(f"{(given or ['--place'])[0]}: is an option of --shift location, which is not given")
        return Plan(self.ood, self.val, self.iid, tuple(shifts), self.marked, _share(self.longest), self.ties)


def _share(text: str | None) -> float | None:
    """Read the share of --longest: half of the video by default, None for "none"."""
    if text == "none":
        return None
    value = 0.5 if text is None else read_number(text)
    if not 0 < value < 1:
        raise UsageError(f"--longest: got {text!r}, expected a share of more than 0 and less than 1, or none")
    return value


planning_options = bound(
    "planning",
    SplitOptions,
    click.option(
        "--shift",
        "shifts",
        multiple=True,
        type=click.Choice(SHIFTS),
        help="How test-ood differs from train; location can be combined with one of the others. [default: location]",
    ),
    click.option(
        "--ood", type=SHARE, default=0.2, show_default=True, metavar="SHARE", help="Share of the queries in test-ood."
    ),
    click.option(
        "--val", type=SHARE, default=0.05, show_default=True, metavar="SHARE", help="Share of the queries in val."
    ),
    click.option(
        "--iid", type=SHARE, default=0.05, show_default=True, metavar="SHARE", help="Share of the queries in test-iid."
    ),
    click.option(
        "--marked",
        type=SHARE,
        metavar="SHARE",
        help="Share of the queries, the least dense, marked for test-ood. [default: as many as fill it]",
    ),
    click.option(
        "--longest",
        metavar="SHARE|none",
        help="Keep videos out of test-ood that have a moment of at least this share of the video. [default: 0.5]",
    ),
    click.option(
        "--ties",
        type=click.Choice(["ood", "rest"]),
        help="Where videos go if exactly half of their queries are marked. [default: rest; ood for --shift words and "
        "--shift compositions]",
    ),
    click.option(
        "--place",
        type=click.Choice(PLACES),
        default="start-end",
        show_default=True,
        help="Coordinates in which the density of moments is computed.",
    ),
    click.option(
        "--width", type=float, metavar="WIDTH", help="Standard deviation of the kernels. [default: Scott's rule]"
    ),
    heading="Splitting",
)


@dataclass(frozen=True)
class SurveyOptions:
    """How the new split is measured: language engine, permutations, seed, cache of floors."""

    engine: str
    permutations: int
    seed: int
    no_cache: bool


measuring_options = bound(
    "measuring",
    SurveyOptions,
    engine_option("Language engine that finds words: lexicon, spacy."),
    count_option(
        "--permutations", 1000, "Number of permutations of each test between splits.", least=99, most=1_000_000
    ),
    seed_option("all draws: new words, the videos of val and test-iid, and floors"),
    no_cache_option,
    heading="Checks",
)


@click.command("resplit", cls=Command)
@whole_options
@click.option("-o", "--out", type=FILE, required=True, metavar="DIR", help="Folder to write; must be new.")
@planning_options
@click.option(
    "--order",
    type=click.Choice(list(ORDERS)),
    default="file",
    show_default=True,
    help="Order of a video's queries: as in the source, with its ids; or random, with new ids that do not reveal it.",
)
@measuring_options
@threads_option(None)
@output_options
def command(
    data: Whole, out: Path, planning: SplitOptions, order: Order, measuring: SurveyOptions, output: Output
) -> None:
    """Split a dataset again into train, val, test-iid and test-ood, in a folder that can be used as a dataset.

    Every floor of the audit is fitted on the new train and measured on the new tests, to show what guessing still
    reaches.

    \b
    truemoment resplit --annotations mine.jsonl -o mine-cd
    truemoment audit preds.jsonl --dataset mine-cd --split test-ood
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.data.language import get_engine
    from truemoment.studies.bias import report_resplit as reports
    from truemoment.studies.bias.resplitting import resplit_and_measure

    # Mistakes in the options are reported before files are read.
    plan = planning.plan()
    get_engine(measuring.engine)
    refuse_outputs([data.annotations, *files_of(data.dataset, data.data_dir)], [output.json_path])
    shown, out = str(out), Path(os.path.realpath(out))  # behind a link
    _refuse(out, output.json_path)

    whole = data.read(out)
    with status_line(show=output.progress) as on_status:
        result = resplit_and_measure(
            whole.annotations,
            plan,
            original=whole.original,
            engine=measuring.engine,
            permutations=measuring.permutations,
            seed=measuring.seed,
            order=order,
            cache=floors_cache(no_cache=measuring.no_cache),
            on_status=on_status,
        )
    report = reports.report(result, whole.source, name=out.name)
    reports.write_folder(
        out,
        result,
        whole.source,
        command=shlex.join(["truemoment", *sys.argv[1:]]),
        on_complete=lambda: deliver(report, lambda: reports.document(result, whole.source), output),
    )
    if not output.quiet:
        say(f"\nwritten to {shown}: use it as --dataset {shown}", err=output.json_only)


def _refuse(out: Path, json_path: Path | None) -> None:
    """Refuse a folder with the name of a dataset or with files in it, and JSON in that folder."""
    if out.name in DATASETS:
        raise UsageError(f"-o {out}: is the name of a dataset, expected another one")
    refuse_folder(out)
    if json_path is not None and json_path != STANDARD_OUTPUT:
        real = Path(os.path.realpath(json_path))
        if out in (real, real.parent):
            raise UsageError(f"--json {json_path}: is in the new folder, expected another place")
