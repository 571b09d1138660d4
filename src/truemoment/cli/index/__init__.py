"""truemoment index: embed the frames of videos, so that they can be searched."""

from __future__ import annotations

from types import MappingProxyType

from truemoment.cli.group import CommandGroup
from truemoment.cli.index import videos

BELOW = MappingProxyType({"calibrate": "Measure when a search of an index may stop."})

command = CommandGroup(videos.command, "truemoment.cli.index", BELOW, reads_files=True)
