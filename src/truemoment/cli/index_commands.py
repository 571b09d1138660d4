"""truemoment index calibrate and serve: when a search of an index may stop, and a shard of it that answers searches."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from truemoment.cli.binder import FILE
from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver_log
from truemoment.cli.model_options import device_option, model_option
from truemoment.cli.options import count_option, json_option, seed_option
from truemoment.cli.outputs import refuse_outputs, say
from truemoment.cli.parts import Output
from truemoment.searching.encoder_options import EncoderOptions

if TYPE_CHECKING:
    from truemoment.media.features.base import Frames
    from truemoment.searching.index import Index


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
def calibrate_command(
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

    found = calibrate(
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
    write_calibration(index_path, found)
    where = str(index_path)
    deliver_log(
        reports.report_of_calibration(found, where), lambda: reports.document_of_calibration(found, where), output
    )


def _vectors(path: Path, index: Index, options: EncoderOptions) -> Frames:
    """Return vectors of sentences: a file's, or those of the index's model for the lines of a text."""
    from truemoment.searching.sentence_lines import read_lines, read_vectors

    if path.suffix.lower() == ".npy":
        return read_vectors(path)
    return options.encoder_of(index).sentences(read_lines(path))


def _name_of(path: Path) -> str:
    from truemoment.base.boundary.files import sha256_of
    from truemoment.base.boundary.text import as_text

    return f"{as_text(path.name)}#{sha256_of(path)[:8]}"


@click.command("serve", cls=Command)
@click.argument("index_path", metavar="INDEX", type=FILE)
@click.option("--shard", default="1/1", show_default=True, metavar="K/N", help="Share of the videos.")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Loopback or private address.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, metavar="P", help="Port; 0 for any."
)
@click.option("--quiet", is_flag=True, help="Do not print the address.")
def serve_command(index_path: Path, shard: str, host: str, port: int, quiet: bool) -> None:
    """Answer searches of a share of the videos of INDEX, until Ctrl-C.

    Every machine has the whole index or the videos of its share. Ask all of them with
    truemoment search "QUERY" INDEX --shards HOST:PORT,HOST:PORT,...

    It has no password and no encryption: use a network that you trust.
    """
    from truemoment.searching.index import Index
    from truemoment.searching.serving import ShardServer, serving
    from truemoment.searching.sharding import IndexShard

    share = IndexShard.read(shard)
    server = ShardServer(Index(index_path), share)
    with serving(server, host, port) as listening:
        if not quiet:
            where = f"[{host}]:{listening.server_port}" if ":" in host else f"{host}:{listening.server_port}"
            say(f"shard {share} of {index_path}, {len(server.videos):,} videos: {where}")
        listening.serve_forever()


COMMANDS: dict[str, click.Command] = {"calibrate": calibrate_command, "serve": serve_command}
"""Commands on an index by their word."""
