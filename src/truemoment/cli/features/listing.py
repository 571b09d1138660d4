"""truemoment features: videos, dimensions and frame rate of features, and the videos of a split that are missing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from truemoment.base.request import In, NewFolder, Out, Request, argument, option, seed
from truemoment.cli import EXIT_CHECK_FAILED, binder
from truemoment.cli.delivery import deliver
from truemoment.cli.outputs import progress_bar
from truemoment.cli.parts import Output, full
from truemoment.report.words import counted
from truemoment.studies.request import Data

if TYPE_CHECKING:
    from truemoment.base.records import Annotations
    from truemoment.media.features import FeatureStore


@dataclass(frozen=True, kw_only=True)
class FeaturesRequest(Request):
    """The features, and what is written."""

    source: In[str] = argument(metavar="SOURCE")
    fps: float | None = option("Rows per second. [default: that of the file, or rows cover each video]", metavar="F")
    seed: int = seed("simulated features")
    out: NewFolder[Path | None] = option(
        "Write the features to a folder of TrueMoment's own format.", name="-o --out", metavar="DIR"
    )
    dtype: Literal["float32", "float16"] = option("Number type that -o writes.", "float32")
    json_path: Out[Path | None] = option(
        "Write JSON with every video named ('-': to standard output).", name="--json", metavar="FILE"
    )
    full: bool = full()
    quiet: bool = option("Report only problems, without progress.", False)


@binder.command("features")
def command(request: FeaturesRequest, data: Data) -> None:
    """List the videos, dimensions and frame rate of features, and the videos of a split that are missing.

    SOURCE is an HDF5 file (FILE.hdf5, FILE.h5), a folder of VIDEO.npy or VIDEO.npz files, a folder
    written by -o, FILE.npz of a synthetic world, or perception:Q. Rows of several sources, with
    commas between their names, are joined.

    Exit status 1 if a video has missing or damaged features, or if the rows of most videos do not
    end where the videos end.

    \b
    truemoment features i3d.hdf5 --dataset charades-sta --split test
    truemoment features clip/ --fps 0.5 --dataset qvhighlights --split val -o clip-mapped
    truemoment features slowfast/,clip/ --fps 0.5 --dataset qvhighlights --split val
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.media.features import check, write_store
    from truemoment.media.features.base import SIMULATED
    from truemoment.searching import report_features as reports
    from truemoment.searching.opening import open_features

    path = Path(request.source)
    output = Output(json_path=request.json_path, full=request.full, quiet=request.quiet)
    given = any(value is not None for value in (data.dataset, data.source.annotations, data.split))
    reference = data.source.read() if given else None
    name = path if path.exists() else request.source
    store = open_features(name, dataset=data.dataset, data_dir=data.source.data_dir, seed=request.seed, fps=request.fps)
    track = progress_bar("reading", "video", show=output.progress)
    alignment = None if reference is None else check(store, reference, progress=track)
    share = None if reference is None else _interval_share(store, reference)
    checked = reports.CheckedFeatures(
        store=store,
        reference=reference,
        alignment=alignment,
        interval_share=share,
        seed=request.seed if request.source.startswith(SIMULATED) else None,
        written="" if request.out is None else f"{request.out}: {counted(len(store), 'video')} as {request.dtype}",
    )
    report = reports.problems(checked) if request.quiet else reports.report(checked)
    report_features = partial(deliver, report, lambda: reports.document(checked), output)
    if request.out is None:
        report_features()
    else:  # where nothing can be printed, there is no folder, which the same command would refuse
        bar = progress_bar("writing", "video", show=output.progress)
        write_store(request.out, store, dtype=request.dtype, progress=bar, on_complete=report_features)
    click.get_current_context().exit(0 if alignment is None or alignment.complete else EXIT_CHECK_FAILED)


def _interval_share(store: FeatureStore, reference: Annotations) -> float | None:
    """Return the share of the moments that are an interval which simulated features show; None for other features."""
    from truemoment.worlds.interval_rules import interval_share
    from truemoment.worlds.perception import Perception

    if not isinstance(store, Perception) or not len(reference):
        return None
    known = all(video_id in store for video_id in reference.video_id.tolist())
    return interval_share(reference, store.actions.__getitem__, store.within_s) if known else None
