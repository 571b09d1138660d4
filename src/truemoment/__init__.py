"""Did the model find the moment, or guess it? TrueMoment measures which.

Each name is imported when it is first used: ``import truemoment`` is quick, and so is the start of the command line.
"""

from __future__ import annotations

from truemoment.version import __version__

TYPE_CHECKING = False  # as in typing, which takes longer to import than all else here
if TYPE_CHECKING:
    from truemoment.api.audits import audit
    from truemoment.api.blind import baseline
    from truemoment.api.citations import cite
    from truemoment.api.comparisons import compare
    from truemoment.api.evaluation import evaluate
    from truemoment.api.leaderboards import leaderboard
    from truemoment.api.runs import train
    from truemoment.api.searches import search
    from truemoment.api.splits import resplit
    from truemoment.api.surveys import survey
    from truemoment.datasets import load_annotations, read_own_annotations
    from truemoment.exceptions import TrueMomentError
    from truemoment.features.opening import open_features
    from truemoment.grounders import Grounder
    from truemoment.io import read_predictions, write_predictions
    from truemoment.measures import parse_measure, parse_measures
    from truemoment.metric import MomentMetric
    from truemoment.protocols import Protocol, get_protocol
    from truemoment.records import Annotations, Predictions, Queries
    from truemoment.scores import Scores

_HOME = {
    "Annotations": "records",
    "Grounder": "grounders",
    "MomentMetric": "metric",
    "Predictions": "records",
    "Protocol": "protocols",
    "Queries": "records",
    "Scores": "scores",
    "TrueMomentError": "exceptions",
    "audit": "api.audits",
    "baseline": "api.blind",
    "cite": "api.citations",
    "compare": "api.comparisons",
    "evaluate": "api.evaluation",
    "get_protocol": "protocols",
    "leaderboard": "api.leaderboards",
    "load_annotations": "datasets",
    "open_features": "features.opening",
    "parse_measure": "measures",
    "parse_measures": "measures",
    "read_own_annotations": "datasets",
    "read_predictions": "io",
    "resplit": "api.splits",
    "search": "api.searches",
    "survey": "api.surveys",
    "train": "api.runs",
    "write_predictions": "io",
}
"""The module of each public name."""

__all__ = [
    "Annotations",
    "Grounder",
    "MomentMetric",
    "Predictions",
    "Protocol",
    "Queries",
    "Scores",
    "TrueMomentError",
    "__version__",
    "audit",
    "baseline",
    "cite",
    "compare",
    "evaluate",
    "get_protocol",
    "leaderboard",
    "load_annotations",
    "open_features",
    "parse_measure",
    "parse_measures",
    "read_own_annotations",
    "read_predictions",
    "resplit",
    "search",
    "survey",
    "train",
    "write_predictions",
]

if not TYPE_CHECKING:  # a checker of types knows the names from above

    def __getattr__(name: str) -> object:
        from importlib.util import find_spec  # noqa: PLC0415 - see the top

        if name not in _HOME and not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
            from importlib import import_module  # noqa: PLC0415 - see the top

            return import_module(f"{__name__}.{name}")
        from truemoment.lazy import lazy  # noqa: PLC0415 - see the top

        return lazy(__name__, _HOME)(name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
