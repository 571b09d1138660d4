"""truemoment annotate: people mark moments on a page, a file a verb."""

from __future__ import annotations

from types import MappingProxyType

import click

from truemoment.cli.group import LazyGroup

VERBS = MappingProxyType(
    {
        "start": "Mark your own queries: makes a study for one person and opens the page.",
        "demo": "Mark moments in rendered videos: no data, no network.",
        "new": "Make a study: deal queries to people, and print their links.",
        "prepare": "Make the videos of a study playable in a browser.",
        "serve": "Serve the page of a study.",
        "people": "Add, list, replace or revoke people.",
        "status": "Report progress, agreement and controls.",
        "export": "Write what people marked, all answers, and a datasheet.",
    }
)


@click.group("annotate", cls=LazyGroup, package="truemoment.cli.annotate", verbs=VERBS)
def command() -> None:
    """Let people mark the moment that a sentence describes, in a browser.

    \b
    truemoment annotate start mine.jsonl --videos films
    truemoment annotate new lab --dataset charades-sta --split test --videos charades --people 20
    truemoment annotate serve lab
    truemoment annotate export lab -o marked
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
