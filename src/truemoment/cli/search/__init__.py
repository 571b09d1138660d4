"""truemoment search: find the moments that a sentence describes, in one video or in many, a file a use."""

from __future__ import annotations

from types import MappingProxyType

from truemoment.cli.group import CommandGroup
from truemoment.cli.search import sentence

BELOW = MappingProxyType(
    {
        "page": "Search on a page in the browser.",
        "split": "Predict every query of a split, for truemoment evaluate.",
        "sweep": "Measure search on chunks of several lengths.",
    }
)

command = CommandGroup(sentence.command, "truemoment.cli.search", BELOW)
