"""truemoment contamination: whether predictions recall the official annotations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from truemoment.base.boundary.folders import lock_folder
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import UsageError
from truemoment.base.request import In, InDataset, Request, argument, option
from truemoment.cli import binder
from truemoment.cli.delivery import deliver, suggest
from truemoment.cli.outputs import refuse_files, refuse_outputs, say
from truemoment.cli.parts import Output, PageOutput
from truemoment.data.named_file import file_by_system
from truemoment.studies.request import MappedData, ReadingPredictions, Testing

if TYPE_CHECKING:
    from truemoment.base.records import Annotations
    from truemoment.data.datasets.source import AnnotationSource


@dataclass(frozen=True, kw_only=True)
class FreshSource(Request):
    """Annotations of the same queries that were made later, as the options name them."""

    HEADING = "Fresh annotations"

    fresh: InDataset[str | None] = option("Later annotations of the same queries.", metavar="DATASET/SPLIT")
    fresh_annotations: In[Path | None] = option("The same from a file, in place of --fresh.", metavar="FILE")

    def read(self, data_dir: Path | None) -> Annotations | None:
        """Read them, if any are named."""
        from truemoment.data.datasets import load_annotations
        from truemoment.data.references import read_annotations

        if self.fresh is not None and self.fresh_annotations is not None:
            raise UsageError("got --fresh and --fresh-annotations, expected one of them")
        if self.fresh_annotations is not None:
            return read_annotations(self.fresh_annotations, None)
        if self.fresh is None:
            return None
        dataset, slash, split = self.fresh.partition("/")
        if not slash or not dataset or not split:
            raise UsageError(f"--fresh: got {self.fresh!r}, expected DATASET/SPLIT, e.g. human-charades/test")
        return load_annotations(dataset, split, data_dir=data_dir)


@dataclass(frozen=True, kw_only=True)
class ContaminationRequest(Request):
    """The predictions, and those for probes."""

    predictions: In[Path | None] = argument(required=False)
    probes: In[Mapping[str, Path]] = option(
        "Predictions for the sentences of --write-probes. May be repeated.",
        (),
        name="--probe",
        metavar="[NAME=]FILE",
        words=tuple[str, ...],
        read=file_by_system,
    )
    write_probes: Path | None = option("Write the queries in other words, and stop.", metavar="DIR")


@binder.command("contamination")
def command(
    request: ContaminationRequest,
    data: MappedData,
    fresh: FreshSource,
    reading: ReadingPredictions,
    testing: Testing,
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
    from truemoment.studies.contamination import report as reports
    from truemoment.studies.contamination.study import detect_in_file

    if request.write_probes is not None:
        if request.predictions is not None or request.probes:
            raise UsageError("--write-probes: predicts nothing, expected no PREDICTIONS and no --probe")
        _write_probes(data.source, request.write_probes, testing.seed, output)
        return
    if request.predictions is None:
        raise UsageError("which predictions? give PREDICTIONS, or --write-probes DIR")
    official = data.source.read()
    study = detect_in_file(
        official,
        request.predictions,
        fresh=fresh.read(data.source.data_dir),
        probes=request.probes,
        draws=testing.draws,
        read=reading.how.read,
        progress=output.progress,
    )
    deliver(reports.report(study), lambda: reports.document(study), output, page)


def _write_probes(data: AnnotationSource, folder: Path, seed: int, output: Output) -> None:
    """Write a file of annotations per probe."""
    from truemoment.data.datasets.own import write
    from truemoment.studies.contamination.probes import PROBES, probes

    refuse_files({"--write-probes": folder})
    official = data.read()
    paths = {name: folder / f"{name}.jsonl" for name in PROBES}
    with lock_folder(folder):
        refuse_outputs(data.files(), paths.values())
        for name, probe in probes(official, seed).items():
            write(OwnPath(folder) / paths[name].name, [probe])
    if not output.quiet:
        say(f"probes: {', '.join(map(str, paths.values()))}")
    given = [word for name in PROBES for word in ("--probe", f"{name}=PREDICTIONS-{name}")]
    words = ["truemoment", "contamination", "PREDICTIONS", *data.words(), *given]
    suggest("predict the queries of each file with your model, then:", words, output)
