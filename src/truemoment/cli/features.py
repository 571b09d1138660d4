"""truemoment features: videos, dimensions and frame rate of features, and the videos of a split that are missing."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from truemoment.cli import EXIT_CHECK_FAILED
from truemoment.cli.groups import data_options
from truemoment.cli.options import (
    STANDARD_OUTPUT,
    refuse_folder,
    refuse_outputs,
    seed_option,
    shown_path,
    write_json,
)
from truemoment.datasets.source import AnnotationSource
from truemoment.text import printable

if TYPE_CHECKING:
    from truemoment.features import Alignment, FeatureStore
    from truemoment.features.own import DType
    from truemoment.records import Annotations

SHOWN = 20
"""Videos of a kind that are listed; --json lists all."""


@click.command("features")
@click.argument("source", metavar="SOURCE")
@data_options
@click.option(
    "--fps", type=float, metavar="F", help="Rows per second. [default: that of the file, or rows cover each video]"
)
@seed_option("simulated features")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write the features to a folder of TrueMoment's own format.",
)
@click.option(
    "--dtype",
    type=click.Choice(["float32", "float16"]),
    default="float32",
    show_default=True,
    help="Number type that -o writes.",
)
@click.option(
    "--json",
    "json_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write JSON with every video named ('-': to standard output).",
)
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
    from truemoment.features import check, write_store
    from truemoment.features.opening import open_features
    from truemoment.worlds.interval_rules import WITHIN_S

    path = Path(source)
    if out is not None:
        refuse_folder(out)
    refuse_outputs([path, *data.files()], [json_path, out])
    given = any(value is not None for value in (data.dataset, data.annotations, data.split))
    reference = data.read() if given else None
    store = open_features(path if path.exists() else source, data_dir=data.data_dir, seed=seed, fps=fps)
    show = not quiet and sys.stderr.isatty()
    found = None if reference is None else check(store, reference, progress=_progress_bar("reading", show=show))
    echo = _echo_to(quiet=quiet, to_error=json_path == STANDARD_OUTPUT)
    _describe(store, echo)
    share = None
    if found is not None and reference is not None:
        _report(found, echo)
        share = _interval_share(store, reference)
    if share is not None:
        within = f"both ends within {WITHIN_S:g} s"
        echo(f"{100 * share:.2f} % of the moments are an action interval that the features show ({within})", False)
    if out is not None:
        write_store(out, store, dtype=cast("DType", dtype), progress=_progress_bar("writing", show=show))
        echo(f"written to {shown_path(out)}: {len(store):,} videos as {dtype}", False)
    if json_path is not None:
        simulated_seed = seed if source.startswith("perception:") else None
        write_json(json_path, _document(store, reference, found, simulated_seed) | {"interval_share": share})
    ctx.exit(0 if found is None or found.complete else EXIT_CHECK_FAILED)


def _progress_bar(what: str, *, show: bool) -> Callable[[list[str]], Iterable[str]]:
    """Iterate over videos, with a progress bar if `show`."""

    def track(video_ids: list[str]) -> Iterator[str]:
        from tqdm import tqdm

        yield from tqdm(video_ids, desc=what, unit="video", leave=False)

    return track if show else iter


def _echo_to(*, quiet: bool, to_error: bool) -> Callable[[str, bool], None]:
    """Print a line; with --quiet only problems."""

    def echo(line: str, wrong: bool) -> None:
        if wrong or not quiet:
            click.echo(printable(line), err=to_error)

    return echo


def _describe(store: FeatureStore, echo: Callable[[str, bool], None]) -> None:
    time = "rows cover each video evenly" if store.fps is None else f"{store.fps:g} rows a second"
    echo(f"{store.name}: {len(store):,} videos, {store.n_dimensions:,} numbers a row, {time}", False)
    for note in getattr(store, "notes", ()):
        echo(f"note: {note}", False)
    if caution := getattr(store, "caution", ""):
        echo(f"caution: {caution}", False)


def _interval_share(store: FeatureStore, reference: Annotations) -> float | None:
    """Return the share of the moments that are an interval which simulated features show; None for other features."""
    from truemoment.worlds.interval_rules import interval_share
    from truemoment.worlds.perception import Perception

    if not isinstance(store, Perception) or not len(reference):
        return None
    known = all(video_id in store for video_id in reference.video_id.tolist())
    return interval_share(reference, store.actions.__getitem__) if known else None


def _report(found: Alignment, echo: Callable[[str, bool], None]) -> None:
    n_usable = len(found.usable)
    rate = f", {found.implied_fps:.4g} a second of video (median)" if n_usable else ""
    counts = f"{n_usable:,} of {len(found.video_ids):,} videos have features, {found.n_rows:,} rows{rate}"
    echo(f"{found.annotations}: {counts}", False)
    if found.missing:
        echo(f"missing: {_listed(found.missing)}", True)
    if found.damaged:
        echo(f"damaged: {_listed([f'{name} ({why})' for name, why in found.damaged.items()])}", True)
    if found.off:
        ends = [f"{name} ({end_s:.1f} of {length_s:.1f} s)" for name, (end_s, length_s) in found.off.items()]
        echo(f"rows end elsewhere than the video: {_listed(ends)}", found.mostly_off)
    if found.mostly_off:
        echo(f"wrong rows a second: stated {found.fps:g}, by the durations about {found.implied_fps:.4g}", True)
    if found.zero_rows:
        zeros = [f"{name} ({count:,})" for name, count in found.zero_rows.items()]
        echo(f"rows of zeros: {_listed(zeros)}", False)
    if found.renamed:
        echo(f"found under another prefix or ending: {_listed(found.renamed)}", False)
    if found.complete:
        echo("every video has features", False)


def _listed(names: Iterable[str]) -> str:
    """Count and name the first ones; --json names all."""
    every = list(names)
    return f"{len(every):,}: " + ", ".join(every[:SHOWN]) + (", ... (--json lists all)" if len(every) > SHOWN else "")


def _document(
    store: FeatureStore, reference: Annotations | None, found: Alignment | None, seed: int | None
) -> dict[str, Any]:
    from truemoment.version import __version__

    document: dict[str, Any] = {
        "schema": "truemoment/features-check/1",
        "truemoment": __version__,
        "features": store.name,
        "seed": seed,
        "n_videos": len(store),
        "n_dimensions": store.n_dimensions,
        "fps": store.fps,
        "notes": list(getattr(store, "notes", ())),
        "caution": getattr(store, "caution", ""),
    }
    if found is None or reference is None:
        return document | {"annotations": None}
    rate = None if math.isnan(found.implied_fps) else found.implied_fps
    return document | {
        "annotations": {
            "dataset": reference.dataset,
            "split": reference.split,
            "sha256": reference.sha256,
            "n_videos": len(found.video_ids),
        },
        "complete": found.complete,
        "n_usable": len(found.usable),
        "n_rows": found.n_rows,
        "implied_fps": rate,
        "missing": list(found.missing),
        "damaged": dict(found.damaged),
        "off": {name: {"rows_end_s": end_s, "duration_s": length_s} for name, (end_s, length_s) in found.off.items()},
        "zero_rows": dict(found.zero_rows),
        "renamed": list(found.renamed),
    }
