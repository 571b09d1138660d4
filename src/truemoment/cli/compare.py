"""truemoment compare: compare methods on the same queries."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from truemoment.base.errors import UsageError
from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver
from truemoment.cli.groups import (
    Fitting,
    Measuring,
    Output,
    PageOutput,
    bound,
    data_options,
    fitting_options,
    measuring_options,
    output_options,
    page_options,
    testing_options,
)
from truemoment.cli.options import FILE, NamedFile, PredictionOptions, reading_options, refuse_outputs, status_line
from truemoment.cli.threads import threads_option
from truemoment.data.datasets.source import AnnotationSource
from truemoment.evaluation.uncertainty import DrawSettings
from truemoment.report.words import counted

if TYPE_CHECKING:
    from truemoment.studies.compare.files import Beside

WAYS = ("shuffled", "reversed", "frozen", "other-video")
"""Ways to change videos (:data:`truemoment.media.features.changed.CHANGES`), which ``--help`` need not load."""


@dataclass(frozen=True)
class BesideOptions:
    """What figures show beside the methods, as the options write it."""

    floors: tuple[str, ...]
    others: tuple[tuple[str, str], ...]
    changes: tuple[tuple[str, str], ...]

    def splits(self) -> dict[str, dict[str, list[Path]]]:
        """Return the files of each split, by method."""
        found: dict[str, dict[str, list[Path]]] = {}
        for place, word in self.others:
            named = NamedFile.read(word)
            found.setdefault(place, {}).setdefault(named.name, []).append(named.path)
        return found

    def changed(self) -> dict[tuple[str, str], list[Path]]:
        """Return the files of changed videos by way and method."""
        found: dict[tuple[str, str], list[Path]] = {}
        for way, word in self.changes:
            named = NamedFile.read(word)
            found.setdefault((way, named.name), []).append(named.path)
        return found

    def check(self, methods: Sequence[str]) -> None:
        """Refuse names of methods and floors that are not known, before files are read."""
        from truemoment.studies.compare.splits import check_floors, check_known

        check_floors(self.floors)
        for place, files in self.splits().items():
            check_known(f"--on {place}", list(files), methods)
        for way, method in self.changed():
            check_known(f"--changed {way}", [method], methods)

    def inputs(self, data: AnnotationSource) -> list[Path | None]:
        """Return the files that are read."""
        files = [path for of in self.splits().values() for paths in of.values() for path in paths]
        files += [path for paths in self.changed().values() for path in paths]
        return [*files, *(path for place, _ in self.others for path in split_source(place, data).files())]

    def read(self, data: AnnotationSource, fitting: Fitting) -> Beside:
        """Read the annotations of the other splits, and their training splits where they have some."""
        from truemoment.studies.compare.files import Beside, training_split
        from truemoment.studies.compare.splits import OtherSplit

        splits = []
        for place, files in self.splits().items():
            source = split_source(place, data)
            own = (source.dataset, source.annotations) == (data.dataset, data.annotations)
            annotations = source.read()
            fit_split = fitting.fit_split if own or fitting.fit_split == "none" else None
            train = training_split(source, annotations, fit_split, fitting.fit_annotations if own else None)
            splits.append(OtherSplit(place, annotations, files, train))
        return Beside(self.floors, tuple(splits), self.changed())


def split_source(place: str, data: AnnotationSource) -> AnnotationSource:
    """Read a word such as test-iid, charades-sta/test or mine.jsonl/test: a split of the data, or of others."""
    where, slash, split = place.rpartition("/")
    if not split or (slash and not where):
        raise UsageError(f"--on: got {place!r}, expected SPLIT or DATASET/SPLIT, e.g. test-iid or charades-sta/test")
    if not slash:
        if split == data.split:
            raise UsageError(f"--on {place}: is the split that is compared, expected another one")
        return AnnotationSource(data.dataset, data.annotations, split, data.data_dir)
    if os.path.isfile(where):  # noqa: PTH113 - pathlib raises at a name that is too long
        return AnnotationSource(None, Path(where), split, data.data_dir)
    return AnnotationSource(where, None, split, data.data_dir)


beside_options = bound(
    "beside",
    BesideOptions,
    click.option(
        "--on",
        "others",
        nargs=2,
        multiple=True,
        metavar="SPLIT [NAME=]FILE",
        help="Predictions of a method on another split, or on DATASET/SPLIT; can be repeated.",
    ),
    click.option(
        "--changed",
        "changes",
        nargs=2,
        multiple=True,
        type=(click.Choice(WAYS), str),
        metavar="WAY [NAME=]FILE",
        help="Predictions of a method on changed videos of the split: shuffled, reversed, frozen or other-video; can "
        "be repeated.",
    ),
    click.option(
        "--floor",
        "floors",
        multiple=True,
        metavar="NAME",
        help="Blind baseline to show beside the methods, e.g. action-aware; can be repeated. [default: "
        "sentence-network]",
    ),
    heading="Beside the comparison",
)
"""--on, --changed and --floor, as ``beside``."""


@click.command("compare", cls=Command)
@click.argument("predictions", nargs=-1, required=True, metavar="[NAME=]PREDICTIONS...")
@data_options
@measuring_options
@click.option(
    "--against", metavar="NAME", help="Compare with this method (and the sentence network) only. [default: all pairs]"
)
@click.option(
    "--reads",
    "declared",
    multiple=True,
    metavar="[NAME=]sentence",
    help="Declare that a method, or all of them, read one sentence at a time; can be repeated.",
)
@reading_options
@fitting_options
@testing_options
@click.option(
    "--published", type=FILE, metavar="DIR|FILE.csv", help="Published figures to show below ours, as tidy CSV."
)
@beside_options
@threads_option(None)
@page_options
@output_options
def command(
    predictions: tuple[str, ...],
    data: AnnotationSource,
    measuring: Measuring,
    against: str | None,
    declared: tuple[str, ...],
    how: PredictionOptions,
    fitting: Fitting,
    testing: DrawSettings,
    published: Path | None,
    beside: BesideOptions,
    page: PageOutput,
    output: Output,
) -> None:
    """Compare methods on a split: paired, with intervals and corrected p values.

    The name of a method is the name of its file, or NAME where NAME=FILE is given. Files with the
    same NAME are runs of one method, such as seeds: their mean is compared, and their spread is
    shown. Where there is a training split, the sentence network, which never sees a video, is a
    method too.

    \b
    truemoment compare ours.jsonl base.jsonl --dataset charades-cd --split test-ood --data-dir data
    truemoment compare ours=1.jsonl ours=2.jsonl base=b.jsonl --against base --annotations mine.jsonl
    truemoment compare ours.jsonl b.jsonl --annotations mine.jsonl --on test-iid ours=iid.jsonl
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.studies.compare import report as reports
    from truemoment.studies.compare.files import check_methods, compare_files, training_split

    files = files_by_method(predictions)  # mistakes in the options are refused before files are read
    inputs = [fitting.fit_annotations, published, *data.files(), *(path for paths in files.values() for path in paths)]
    inputs += beside.inputs(data)
    refuse_outputs(inputs, [page.html, output.json_path])
    page.refuse()
    network = fitting.fit_split != "none"
    reads_sentence = methods_declared(declared, list(files))
    check_methods(list(files), against, network=network, reads_sentence=reads_sentence)
    beside.check(list(files))
    measures, protocol = measuring.parsed_measures(), measuring.parsed_protocol()
    annotations = data.read()
    with status_line(show=output.progress) as on_status:
        found = compare_files(
            files,
            annotations,
            train=training_split(data, annotations, fitting.fit_split, fitting.fit_annotations),
            network=network,
            measures=measures,
            protocol=protocol,
            against=against,
            published=published,
            reads_sentence=reads_sentence,
            more=beside.read(data, fitting),
            testing=testing,
            read=how.read,
            cache=fitting.cache(),
            progress=output.progress,
            on_status=on_status,
        )
    deliver(reports.report(found), lambda: reports.document(found), output, page)


def methods_declared(words: Sequence[str], methods: Sequence[str]) -> set[str]:
    """Read the words of --reads, "sentence" or NAME=sentence: the methods that read one sentence at a time."""
    found: set[str] = set()
    for word in words:
        name, named, what = word.rpartition("=")
        if what != "sentence":
            raise UsageError(f"--reads: got {word!r}, expected sentence, or NAME=sentence with the name of a method")
        found |= {name} if named else set(methods)
    return found


def files_by_method(words: Sequence[str]) -> dict[str, list[Path]]:
    """Read the arguments, FILE or NAME=FILE: the runs of each method."""
    files: dict[str, list[Path]] = {}
    unnamed: set[str] = set()
    for named in map(NamedFile.read, words):
        name, path = named.name, named.path
        if not named.given:
            unnamed.add(name)
        of_method = files.setdefault(name, [])
        if os.path.realpath(path) in map(os.path.realpath, of_method):  # pathlib's raises at a loop of links
            raise UsageError(f"{path} is given twice under the name {name!r}, expected each run once")
        of_method.append(path)
        if len(of_method) > 1 and name in unnamed:
            raise UsageError(
                f"{of_method[0]} and {path} would both have the name {name!r}; give NAME=FILE: one name for runs of "
                "one method, two for two methods"
            )
    if len(files) < 2:
        (name,) = files
        raise UsageError(
            f"got one method ({name}, {counted(len(files[name]), 'file')}), expected two or more; give files of "
            "different methods different names, as in ours=a.jsonl base=b.jsonl"
        )
    return files
