"""The options --model and --device of commands that embed frames or sentences."""

from __future__ import annotations

import click

from truemoment.searching.encoder_options import DEFAULT_MODEL

model_option = click.option(
    "--model",
    metavar="NAME|FOLDER",
    help=f"CLIP or SigLIP: NAME or NAME@COMMIT on the hub, a folder, or scenes. [default: {DEFAULT_MODEL}]",
)
device_option = click.option("--device", metavar="NAME", help="cpu, cuda, cuda:1 ... [default: a GPU if there is one]")
