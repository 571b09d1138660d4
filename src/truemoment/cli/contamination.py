"""truemoment contamination: whether predictions recall the official annotations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import click

from truemoment.base.errors import UsageError
from truemoment.base.records import Annotations
from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver, suggest
from truemoment.cli.groups import (
    Output,
    PageOutput,
    bound,
    data_options,
    output_options,
    page_options,
    testing_options,
)
from truemoment.cli.humans import file_by_system
from truemoment.cli.options import FILE, PredictionOptions, reading_options, refuse_files, refuse_outputs, say
from truemoment.data.datasets.source import AnnotationSource, files_of
from truemoment.evaluation.uncertainty import DrawSettings


@dataclass(frozen=True)
class FreshSource:
    """Annotations of the same queries that were made later, as the options name them."""

    fresh: str | None
    fresh_annotations: Path | None

    def read(self, data_dir: Path | None) -> Annotations | None:
        """Read them, if any are named."""
        from truemoment.data.datasets import load_annotations, read_own_annotations

        if self.fresh is not None and self.fresh_annotations is not None:
            raise UsageError("got --fresh and --fresh-annotations, expected one of them")
        if self.fresh_annotations is not None:
            return read_own_annotations(self.fresh_annotations, None)
        if self.fresh is None:
            return None
        dataset, slash, split = self.fresh.partition("/")
        if not slash or not dataset or not split:
            raise UsageError(f"--fresh: got {self.fresh!r}, expected DATASET/SPLIT, e.g. human-charades/test")
        return load_annotations(dataset, split, data_dir=data_dir)

    def files(self, data_dir: Path | None) -> list[Path]:
        """Return the files that may be read."""
        dataset = (self.fresh or "").partition("/")[0] or None
        own = [] if self.fresh_annotations is None else [self.fresh_annotations]
        return [*own, *files_of(dataset, data_dir)]


fresh_options = bound(
    "fresh",
    FreshSource,
    click.option("--fresh", metavar="DATASET/SPLIT", help="Later annotations of the same queries."),
    click.option("--fresh-annotations", type=FILE, metavar="FILE", help="The same as JSON Lines."),
    heading="Fresh annotations",
)


@click.command("contamination", cls=Command)
@click.argument("predictions", type=FILE, required=False)
@data_options
@fresh_options
@click.option(
    "--probe",
    "probes",
    multiple=True,
    metavar="[NAME=]FILE",
    help="Predictions for the sentences of --write-probes. May be repeated.",
)
@click.option("--write-probes", type=FILE, metavar="DIR", help="Write the queries in other words, and stop.")
@reading_options
@testing_options
@page_options
@output_options
def command(
    predictions: Path | None,
    data: AnnotationSource,
    fresh: FreshSource,
    probes: tuple[str, ...],
    write_probes: Path | None,
    how: PredictionOptions,
    testing: DrawSettings,
    page: PageOutput,
    output: Output,
) -> None:
    """Report whether PREDICTIONS recall the official annotations of a split.

    A model that has read the annotations meets official times exactly, more often than a method that sees the video.
    --fresh compares with later annotations. --write-probes writes the queries in other words: predict them with your
    model and give the predictions to --probe.

    \b
    truemoment contamination preds.jsonl --dataset charades-sta --split test --data-dir data
    truemoment contamination preds.jsonl --dataset charades-sta ... --fresh human-charades/test
    truemoment contamination --dataset charades-sta --split test --write-probes probes
    truemoment contamination preds.jsonl --probe jittered=other.jsonl --annotations mine.jsonl
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.studies.diagnosis import report_contamination as reports
    from truemoment.studies.diagnosis.contamination import detect_in_file

    files = file_by_system(probes)
    if write_probes is not None:
        if predictions is not None or files:
            raise UsageError("--write-probes: predicts nothing, expected no PREDICTIONS and no --probe")
        _write_probes(data, write_probes, testing.seed, output)
        return
    if predictions is None:
        raise UsageError("which predictions? give PREDICTIONS, or --write-probes DIR")
    inputs = [predictions, *data.files(), *fresh.files(data.data_dir), *files.values()]
    refuse_outputs(inputs, [page.html, output.json_path])
    page.refuse()
    official = data.read()
    found = detect_in_file(
        official,
        predictions,
        fresh=fresh.read(data.data_dir),
        probes=files,
        draws=testing,
        read=how.read,
        progress=output.progress,
    )
    deliver(reports.report(found), lambda: reports.document(found), output, page)


def _write_probes(data: AnnotationSource, folder: Path, seed: int, output: Output) -> None:
    """Write a file of annotations per probe."""
    from truemoment.base.boundary.folders import lock_folder
    from truemoment.base.boundary.own_path import OwnPath
    from truemoment.data.datasets.own import write
    from truemoment.studies.diagnosis.probes import PROBES, probes

    refuse_files({"--write-probes": folder})
    official = data.read()
    paths = {name: folder / f"{name}.jsonl" for name in PROBES}
    with lock_folder(folder):
        refuse_outputs(data.files(), paths.values())
        for name, probe in probes(official, seed).items():
            write(OwnPath(folder) / paths[name].name, [probe])
    if not output.quiet:
        say(f"probes: {', '.join(map(str, paths.values()))}")
    suggest(
        "predict the queries of each file with your model, then:",
        ["truemoment", "contamination", "PREDICTIONS", *data.words(), *_probe_words(PROBES)],
        output,
    )


def _probe_words(names: Iterable[str]) -> list[str]:
    return [word for name in names for word in ("--probe", f"{name}=PREDICTIONS-{name}")]
