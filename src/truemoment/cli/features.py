"""truemoment features: videos, dimensions and frame rate of features, and the videos of a split that are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from truemoment.cli import EXIT_CHECK_FAILED
from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver
from truemoment.cli.groups import Output, data_options
from truemoment.cli.options import FILE, json_option, refuse_folder, refuse_outputs, seed_option
from truemoment.data.datasets.source import AnnotationSource

if TYPE_CHECKING:
    from truemoment.base.records import Annotations
    from truemoment.media.features import FeatureStore
    from truemoment.media.features.own import DType


@click.command("features", cls=Command)
@click.argument("source", metavar="SOURCE")
@data_options
@click.option(
    "--fps", type=float, metavar="F", help="Rows per second. [default: that of the file, or rows cover each video]"
)
@seed_option("simulated features")
@click.option(
    "-o", "--out", type=FILE, metavar="DIR", help="Write the features to a folder of TrueMoment's own format."
)
@click.option(
    "--dtype",
    type=click.Choice(["float32", "float16"]),
    default="float32",
    show_default=True,
    help="Number type that -o writes.",
)
@json_option("Write JSON with every video named ('-': to standard output).")
@click.option("--quiet", is_flag=True, help="Report only problems, without progress.")
@click.pass_context
def command(
    ctx: click.Context,
    source: str,
    data: AnnotationSource,
    fps: float | None,
    seed: int,
    out: Path | None,
    dtype: str,
    json_path: Path | None,
    quiet: bool,
) -> None:
    """List the videos, dimensions and frame rate of features, and the videos of a split that are missing.

    SOURCE is an HDF5 file (FILE.hdf5, FILE.h5), a folder of VIDEO.npy or VIDEO.npz files, a folder
    written by -o, FILE.npz of a synthetic world, or perception:Q.

    Exit status 1 if a video has missing or damaged features, or if the rows of most videos do not
    end where the videos end.

    \b
    truemoment features i3d.hdf5 --dataset charades-sta --split test
    truemoment features clip/ --fps 0.5 --dataset qvhighlights --split val -o clip-mapped
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.media.features import check, write_store
    from truemoment.media.features.base import SIMULATED
    from truemoment.searching import report_features as reports
    from truemoment.searching.opening import open_features

    path = Path(source)
    output = Output(json_path, None, quiet)
    if out is not None:
        refuse_folder(out)
    refuse_outputs([path, *data.files()], [json_path, out])
    given = any(value is not None for value in (data.dataset, data.annotations, data.split))
    reference = data.read() if given else None
    name = path if path.exists() else source
    store = open_features(name, dataset=data.dataset, data_dir=data.data_dir, seed=seed, fps=fps)
    alignment = (
        None if reference is None else check(store, reference, progress=_progress_bar("reading", show=output.progress))
    )
    share = None if reference is None else _interval_share(store, reference)
    found = reports.CheckedFeatures(
        store=store,
        reference=reference,
        alignment=alignment,
        interval_share=share,
        seed=seed if source.startswith(SIMULATED) else None,
        written="" if out is None else f"{out}: {len(store):,} videos as {dtype}",
    )
    report = reports.problems(found) if quiet else reports.report(found)
    tell = partial(deliver, report, lambda: reports.document(found), output)
    if out is None:
        tell()
    else:  # where nothing can be printed, there is no folder, which the same command would refuse
        bar = _progress_bar("writing", show=output.progress)
        write_store(out, store, dtype=cast("DType", dtype), progress=bar, on_complete=tell)
    ctx.exit(0 if alignment is None or alignment.complete else EXIT_CHECK_FAILED)


def _progress_bar(what: str, *, show: bool) -> Callable[[list[str]], Iterable[str]]:
    """Return what goes through videos, with a progress bar if `show`."""
    if not show:
        return iter
    from tqdm import tqdm

    return partial(tqdm, desc=what, unit="video", leave=False)


def _interval_share(store: FeatureStore, reference: Annotations) -> float | None:
    """Return the share of the moments that are an interval which simulated features show; None for other features."""
    from truemoment.worlds.interval_rules import interval_share
    from truemoment.worlds.perception import Perception

    if not isinstance(store, Perception) or not len(reference):
        return None
    known = all(video_id in store for video_id in reference.video_id.tolist())
    return interval_share(reference, store.actions.__getitem__, store.within_s) if known else None
