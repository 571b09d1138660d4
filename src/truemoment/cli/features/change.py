"""truemoment features change: features and references of videos in which the moments move."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from truemoment.base.request import In, NewFolder, Request, argument, option, seed
from truemoment.cli import binder
from truemoment.cli.outputs import progress_bar, say
from truemoment.report.words import counted
from truemoment.studies.request import Data


@dataclass(frozen=True, kw_only=True)
class ChangeRequest(Request):
    """The features, how they change, and where they are written."""

    source: In[str] = argument(metavar="SOURCE")
    change: str = option(
        "How the videos change: prepended-noise[:SECONDS], truncated or concatenated.", metavar="CHANGE", required=True
    )
    out: NewFolder[Path] = option("Folder of the changed videos.", name="-o --out", metavar="DIR", required=True)
    fps: float | None = option("Rows per second. [default: that of the file, or rows cover each video]", metavar="F")
    seed: int = seed("draws")
    dtype: Literal["float32", "float16"] = option("Number type.", "float32")
    quiet: bool = option("Report only problems, without progress.", False)


@binder.command("change")
def command(request: ChangeRequest, data: Data) -> None:
    """Write features and references of videos in which the moments move.

    prepended-noise puts SECONDS of noise before each video (default: a third of the median video),
    truncated cuts away the first or the last part, never a moment, and concatenated joins another
    video of the split. DIR gets features/ and annotations.jsonl, for a model to predict on.
    'truemoment audit --changed DIR PREDICTIONS' reports whether the predictions follow the moments.

    \b
    truemoment features change i3d.hdf5 --dataset charades-cd --split test-ood --change prepended-noise:10 -o noise
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.media.features.moving import MovedFeatures, checked_move, write_moved
    from truemoment.searching.opening import open_features

    checked_move(request.change)
    original, path = data.source.read(), Path(request.source)
    name = path if path.exists() else request.source
    store = open_features(name, dataset=data.dataset, data_dir=data.source.data_dir, seed=request.seed, fps=request.fps)
    features, references = MovedFeatures.of(store, original, request.change, request.seed)
    bar = progress_bar("writing", "video", show=not request.quiet)
    write_moved(request.out, features, references, dtype=request.dtype, progress=bar)
    if not request.quiet:
        unchanged = len(set(original.video_id[references.duration_s == original.duration_s]))
        kept = f", {unchanged:,} of them unchanged: their moments leave no room" if unchanged else ""
        say(f"{request.out}: {counted(len(features), 'video')}{kept}, as {request.dtype}")
