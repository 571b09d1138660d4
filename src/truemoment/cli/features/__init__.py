"""truemoment features: what features contain, and features of one's own videos."""

from __future__ import annotations

from types import MappingProxyType

from truemoment.cli.features import listing
from truemoment.cli.group import CommandGroup

BELOW = MappingProxyType(
    {
        "extract": "Make features of videos, or of sentences, by a CLIP model.",
        "change": "Write features and references of videos in which the moments move.",
    }
)

command = CommandGroup(listing.command, "truemoment.cli.features", BELOW, reads_files=True)
