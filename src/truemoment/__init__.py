"""Did the model find the moment, or guess it? TrueMoment measures which.

Each name is imported when it is first used: ``import truemoment`` is quick, and so is the start of the command line.
"""

from __future__ import annotations

from truemoment.version import __version__

TYPE_CHECKING = False  # as in typing, which takes longer to import than all else here
if TYPE_CHECKING:
    from truemoment.datasets import load_annotations, read_own_annotations
    from truemoment.evaluation import evaluate
    from truemoment.exceptions import TrueMomentError
    from truemoment.grounders import Grounder
    from truemoment.io import read_predictions, write_predictions
    from truemoment.measures import parse_measure, parse_measures
    from truemoment.protocols import Protocol, get_protocol
    from truemoment.records import Annotations, Predictions, Queries
    from truemoment.scores import Scores

_ROOMS = {
    "datasets": ("load_annotations", "read_own_annotations"),
    "evaluation": ("evaluate",),
    "exceptions": ("TrueMomentError",),
    "grounders": ("Grounder",),
    "io": ("read_predictions", "write_predictions"),
    "measures": ("parse_measure", "parse_measures"),
    "protocols": ("Protocol", "get_protocol"),
    "records": ("Annotations", "Predictions", "Queries"),
    "scores": ("Scores",),
}
"""Modules of this package, and what each gives to it."""

__all__ = [
    "Annotations",
    "Grounder",
    "Predictions",
    "Protocol",
    "Queries",
    "Scores",
    "TrueMomentError",
    "__version__",
    "evaluate",
    "get_protocol",
    "load_annotations",
    "parse_measure",
    "parse_measures",
    "read_own_annotations",
    "read_predictions",
    "write_predictions",
]

if not TYPE_CHECKING:  # a checker of types knows the names from above

    def __getattr__(name: str) -> object:
        from importlib import import_module  # noqa: PLC0415 - see the top

        for room, names in _ROOMS.items():
            if name == room:
                return import_module(f"truemoment.{room}")
            if name in names:
                found = globals()[name] = getattr(import_module(f"truemoment.{room}"), name)
                return found
        raise AttributeError(f"module 'truemoment' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__, *_ROOMS})
