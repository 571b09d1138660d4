"""truemoment index calibrate: when a search of an index may stop."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from truemoment.base.errors import InputError
from truemoment.cli.binder import FILE
from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver_log
from truemoment.cli.model_options import device_option, model_option
from truemoment.cli.options import count_option, json_option, seed_option
from truemoment.cli.outputs import refuse_outputs
from truemoment.cli.parts import Output
from truemoment.searching.encoder_options import EncoderOptions

if TYPE_CHECKING:
    from truemoment.media.features.base import Frames
    from truemoment.searching.index import Index


MOST_SENTENCES = 100_000
"""Sentences of a file; a few hundred are enough."""


@click.command("calibrate", cls=Command)
@click.argument("index_path", metavar="INDEX", type=FILE)
@click.option(
    "--sentences",
    type=FILE,
    required=True,
    metavar="FILE",
    help="Sentences as people search for: text, one a line, or vectors, .npy (sentences, numbers).",
)
@count_option("--top", 5, "Number of moments that searches look for, at most.", least=1, most=1000, metavar="K")
@count_option("--videos", 200, "Number of videos that are drawn.", least=1)
@click.option(
    "--quantile", type=float, default=0.99, show_default=True, metavar="Q", help="Quantile of the difference."
)
@seed_option("the draw of videos")
@model_option
@device_option
@json_option("Write the calibration as JSON ('-': to standard output, and nothing else goes there).")
@click.option("--quiet", is_flag=True, help="No report, and no progress on standard error.")
def command(
    index_path: Path,
    sentences: Path,
    top: int,
    videos: int,
    quantile: float,
    seed: int,
    model: str | None,
    device: str | None,
    json_path: Path | None,
    quiet: bool,
) -> None:
    """Measure when a search of INDEX may stop, and keep it in the index.

    Videos are scored in the order of their best pieces of 4 s. This measures, for the sentences and a
    sample of videos, how far a search must go to find the best K moments. A search for up to K moments
    then stops there, in place of after 20 videos.
    """
    from truemoment.searching import report as reports
    from truemoment.searching.index import Index
    from truemoment.searching.searcher import APART_S
    from truemoment.searching.stopping import calibrate, write_calibration

    if json_path is not None:
        refuse_outputs([index_path, sentences], [json_path])
    output = Output(json_path=json_path, quiet=quiet)
    index = Index(index_path)
    vectors = _vectors(sentences, index, EncoderOptions(model, None, None, device))

    def track(names: Iterable[str]) -> Iterable[str]:
        from tqdm import tqdm

        return tqdm(names, desc="calibrating", unit="video", leave=False) if output.progress else names

    calibration = calibrate(
        index,
        vectors,
        sentences=_name_of(sentences),
        top=top,
        apart_s=APART_S,
        n_videos=videos,
        quantile=quantile,
        seed=seed,
        track=track,
    )
    write_calibration(index_path, calibration)
    where = str(index_path)
    report = reports.report_of_calibration(calibration, where)
    deliver_log(report, lambda: reports.document_of_calibration(calibration, where), output)


def _vectors(path: Path, index: Index, options: EncoderOptions) -> Frames:
    """Return vectors of sentences (S, D): a file's, or those of the index's model for the lines of a text."""
    from truemoment.base.boundary.files import read_text

    if path.suffix.lower() == ".npy":
        return _read_vectors(path)
    sentences = [line.strip() for line in read_text(path).splitlines() if line.strip()]
    if not 1 <= len(sentences) <= MOST_SENTENCES:
        raise InputError(f"has {len(sentences):,} sentences, expected 1 to {MOST_SENTENCES:,}, one a line", path=path)
    return options.encoder_of(index).sentences(sentences)


def _read_vectors(path: Path) -> Frames:
    """Return vectors of sentences (S, D) from an NPY file."""
    import numpy as np

    from truemoment.base.boundary.arrays import map_npy, refusing_damage

    with refusing_damage(path, "is no table of vectors"):
        table = map_npy(path)
        if table.ndim != 2 or table.dtype.kind != "f" or not 1 <= len(table) <= MOST_SENTENCES:
            came = f"holds {table.dtype} of shape {table.shape}"
            raise InputError(f"{came}, expected (sentences, numbers), up to {MOST_SENTENCES:,} sentences", path=path)
        return np.asarray(table, dtype=np.float32)


def _name_of(path: Path) -> str:
    from truemoment.base.boundary.files import sha256_of
    from truemoment.base.boundary.text import as_text

    return f"{as_text(path.name)}#{sha256_of(path)[:8]}"
