"""truemoment humans: agreement of several annotators, what they score, and which conclusions they confirm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from truemoment.base.errors import UsageError
from truemoment.base.records import Annotations
from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver
from truemoment.cli.groups import (
    Measuring,
    Output,
    PageOutput,
    bound,
    data_options,
    measuring_options,
    output_options,
    page_options,
    testing_options,
)
from truemoment.cli.options import FILE, NamedFile, PredictionOptions, count_option, reading_options, refuse_outputs
from truemoment.data.datasets.source import AnnotationSource, files_of
from truemoment.evaluation.uncertainty import DrawSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from truemoment.studies.diagnosis.humans import Duplicates


@dataclass(frozen=True)
class OfficialSource:
    """The dataset's own references, as the options name them."""

    official: str | None
    official_annotations: Path | None

    def read(self, data: AnnotationSource) -> Annotations | None:
        """Read them: those that are named, else those of the dataset that was annotated again."""
        from truemoment.data.datasets import load_annotations, read_own_annotations
        from truemoment.data.datasets.reannotation import REANNOTATES

        if self.official_annotations is not None:
            return read_own_annotations(self.official_annotations, None)
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

    def files(self, data_dir: Path | None) -> list[Path]:
        """Return the files that may be read."""
        dataset = (self.official or "").partition("/")[0] or None
        own = [] if self.official_annotations is None else [self.official_annotations]
        return [*own, *files_of(dataset, data_dir)]


official_options = bound(
    "official",
    OfficialSource,
    click.option(
        "--official",
        metavar="DATASET/SPLIT",
        help="The dataset's own references of these queries, or none. [default: those of the dataset that was "
        "annotated again]",
    ),
    click.option(
        "--official-annotations", type=FILE, metavar="FILE", help="The same as JSON Lines, in place of --official."
    ),
    heading="Official references",
)


@click.command("humans", cls=Command)
@click.argument("predictions", nargs=-1, metavar="[[NAME=]PREDICTIONS]...")
@data_options
@official_options
@measuring_options
@click.option(
    "--duplicates",
    type=click.Choice(["published", "out", "kept"]),
    default="published",
    show_default=True,
    help="Whether moments identical to a person's own count when people are compared with each other.",
)
@count_option("--draws", 100, "Number of draws of a random annotator.", least=1, most=10_000)
@reading_options
@testing_options
@count_option(
    "--timelines", 6, "Number of queries to draw, those on which annotators agree least first.", least=0, most=100
)
@page_options
@output_options
def command(
    predictions: tuple[str, ...],
    data: AnnotationSource,
    official: OfficialSource,
    measuring: Measuring,
    duplicates: Duplicates,
    draws: int,
    how: PredictionOptions,
    testing: DrawSettings,
    timelines: int,
    page: PageOutput,
    output: Output,
) -> None:
    """Measure annotators against references and each other, and PREDICTIONS beside them.

    With two or more systems it reports which differences annotators confirm.

    \b
    truemoment humans --dataset human-charades --split test --data-dir data
    truemoment humans ours=a.jsonl base=b.jsonl --dataset human-charades --split test --data-dir data
    truemoment humans --annotations marked.jsonl --official-annotations mine.jsonl --html humans.html
    truemoment humans --annotations marked/answers.jsonl --html humans.html --open
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.data.datasets.answer_file import is_answers, read_answers
    from truemoment.evaluation.protocols import get_protocol
    from truemoment.studies.diagnosis import report_humans as reports
    from truemoment.studies.diagnosis.human_study import study_files
    from truemoment.studies.diagnosis.humans import measures_of_one_answer

    files = file_by_system(predictions)  # mistakes in the options are refused before files are read
    refuse_outputs([*data.files(), *official.files(data.data_dir), *files.values()], [page.html, output.json_path])
    page.refuse()
    if official.official is not None and official.official_annotations is not None:
        raise UsageError("got --official and --official-annotations, expected one of them")
    protocol = measuring.parsed_protocol()
    if measuring.measures is not None:
        measures_of_one_answer(measuring.measures, protocol or get_protocol("default"))
    answers = None
    if data.annotations is not None and data.dataset is None and is_answers(data.annotations):
        answers = read_answers(data.annotations)
    annotations = data.read()
    found = study_files(
        annotations,
        files,
        official=official.read(data),
        measures=measuring.measures,
        protocol=protocol,
        duplicates=duplicates,
        draws=draws,
        resamples=testing.resamples,
        permutations=testing.permutations,
        seed=testing.seed,
        read=how.read,
        progress=output.progress,
        answers=answers,
    )
    deliver(reports.report(found, n_timelines=timelines), lambda: reports.document(found), output, page)


def file_by_system(words: Sequence[str]) -> dict[str, Path]:
    """Read the arguments, FILE or NAME=FILE: the file of each system."""
    files: dict[str, Path] = {}
    for named in map(NamedFile.read, words):
        if named.name in files:
            raise UsageError(
                f"{files[named.name]} and {named.path} would both have the name {named.name!r}; give NAME=FILE, a name "
                "each"
            )
        files[named.name] = named.path
    return files
