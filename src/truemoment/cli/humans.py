"""truemoment humans: agreement of several annotators, what they score, and which conclusions they confirm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from truemoment.base.errors import UsageError
from truemoment.base.records import Annotations
from truemoment.base.request import In, InDataset, Request, argument, number, option
from truemoment.cli import binder
from truemoment.cli.delivery import deliver
from truemoment.cli.parts import Output, PageOutput
from truemoment.data.datasets.source import AnnotationSource
from truemoment.data.named_file import file_by_system
from truemoment.studies.request import MappedData, Measuring, ReadingPredictions, Testing


@dataclass(frozen=True, kw_only=True)
class OfficialSource(Request):
    """The dataset's own references, as the options name them."""

    HEADING = "Official references"

    official: InDataset[str | None] = option(
        "The dataset's own references of these queries, or none. [default: those of the dataset that was annotated "
        "again]",
        metavar="DATASET/SPLIT",
    )
    official_annotations: In[Path | None] = option("The same from a file, in place of --official.", metavar="FILE")

    def read(self, data: AnnotationSource) -> Annotations | None:
        """Read them: those that are named, else those of the dataset that was annotated again."""
        from truemoment.data.datasets import load_annotations
        from truemoment.data.datasets.reannotation import REANNOTATES
        from truemoment.data.references import read_annotations

        if self.official_annotations is not None:
            return read_annotations(self.official_annotations, None)
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

    def check(self) -> None:
        """Refuse a split and a file."""
        if self.official is not None and self.official_annotations is not None:
            raise UsageError("got --official and --official-annotations, expected one of them")


@dataclass(frozen=True, kw_only=True)
class HumansRequest(Request):
    """The systems, and what is drawn."""

    predictions: In[Mapping[str, Path]] = argument(
        metavar="[[NAME=]PREDICTIONS]...", words=tuple[str, ...], read=file_by_system, required=False
    )
    duplicates: Literal["published", "out", "kept"] = option(
        "Whether moments identical to a person's own count when people are compared with each other.", "published"
    )
    draws: int = number("Number of draws of a random annotator.", 100, 1, 10000)
    timelines: int = number("Number of queries to draw, in order of rising agreement.", 6, 0, 100)


@binder.command("humans")
def command(
    request: HumansRequest,
    data: MappedData,
    official: OfficialSource,
    measuring: Measuring,
    reading: ReadingPredictions,
    testing: Testing,
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
    from truemoment.studies.humans import report as reports
    from truemoment.studies.humans.scores import measures_of_one_answer
    from truemoment.studies.humans.study import study_files

    protocol = measuring.parsed_protocol()
    if measuring.measures_text is not None:
        measures_of_one_answer(measuring.measures_text, protocol or get_protocol("default"))
    answers = None
    if data.source.annotations is not None and data.dataset is None and is_answers(data.source.annotations):
        answers = read_answers(data.source.annotations)
    annotations = data.source.read()
    study = study_files(
        annotations,
        request.predictions,
        official=official.read(data.source),
        measures=measuring.measures_text,
        protocol=protocol,
        duplicates=request.duplicates,
        draws=request.draws,
        resamples=testing.resamples,
        permutations=testing.permutations,
        seed=testing.seed,
        read=reading.how.read,
        progress=output.progress,
        answers=answers,
    )
    deliver(reports.report(study, n_timelines=request.timelines), lambda: reports.document(study), output, page)
