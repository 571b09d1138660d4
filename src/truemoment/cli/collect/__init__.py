"""truemoment collect: from described films to grounded sentences, a file a sub-command."""

from __future__ import annotations

from types import MappingProxyType

import click

from truemoment.cli.group import LazyGroup

STEPS = MappingProxyType(
    {
        "run": "Collect sentences of audio description from films, as MAD was made.",
        "align": "Align a described track with its film, by the paper's method and ours.",
        "clips": "Find clips of LSMDC in their films, and write their sentences in film time.",
        "splits": "Split the films of a collection into train, val and test.",
        "statistics": "Print the statistics of a collection beside those of MAD.",
        "review": "Write a page on which people review a sample of the sentences.",
        "estimate": "Estimate the quality of a collection from the answers of reviewers.",
        "card": "Write the data card of a collection again.",
        "export": "Copy what may be passed on into a new folder.",
    }
)


@click.group("collect", cls=LazyGroup, package="truemoment.cli.collect", verbs=STEPS)
def command() -> None:
    """Collect grounded sentences from films with audio description.

    \b
    truemoment collect run film.mp4 --described ad.mp3 --subtitles film.srt --speech whisper:FOLDER -o OUT
    truemoment collect splits OUT
    truemoment bias --annotations OUT/annotations.jsonl
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
