"""Options of label noise, bound to one value."""

from __future__ import annotations

import click

from truemoment.cli.groups import bound
from truemoment.studies.meta.label_noise import NOISE, NoiseSource

noise_options = bound(
    "noise",
    NoiseSource,
    click.option(
        "--noise",
        "kinds",
        type=click.Choice(NOISE),
        multiple=True,
        default=("published", "shift"),
        show_default=True,
        help="Model of label noise; may be given several times.",
    ),
    click.option(
        "--annotators",
        "marked_by",
        metavar="NAME|FILE",
        help="Learn noise from a dataset with several annotators, e.g. human-charades, or from your own annotations.",
    ),
    heading="Noise",
)
"""--noise and --annotators, as ``noise``."""
