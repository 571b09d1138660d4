"""Did the model find the moment, or guess it? TrueMoment measures which.

Each name is imported when it is first used: ``import truemoment`` is quick, and so is the start of the command line.
"""

from __future__ import annotations

from truemoment.base.version import __version__

TYPE_CHECKING = False  # as in typing, which takes longer to import than all else here
if TYPE_CHECKING:
    from truemoment.base.errors import TrueMomentError
    from truemoment.base.records import Annotations, Predictions, Queries
    from truemoment.cli.api.audits import audit
    from truemoment.cli.api.citations import cite
    from truemoment.cli.api.endpoints import predict_endpoint
    from truemoment.cli.api.runs import predict, train
    from truemoment.data.datasets import load_annotations
    from truemoment.data.formats import read_predictions, write_predictions
    from truemoment.data.references import read_annotations
    from truemoment.evaluation.grounders import Grounder
    from truemoment.evaluation.measures import parse_measure, parse_measures
    from truemoment.evaluation.metric import MomentMetric
    from truemoment.evaluation.protocols import Protocol, get_protocol
    from truemoment.evaluation.scores import Scores
    from truemoment.learning.rewards import reward
    from truemoment.searching.opening import open_features
    from truemoment.searching.run import search
    from truemoment.searching.run_index import index
    from truemoment.studies.baseline.run import baseline
    from truemoment.studies.bias.run import bias
    from truemoment.studies.bias.run_resplit import resplit
    from truemoment.studies.compare.run import compare
    from truemoment.studies.evaluate.run import evaluate
    from truemoment.studies.humans.run import humans
    from truemoment.studies.leaderboard.run import leaderboard

_HOME = {
    "Annotations": "base.records",
    "Grounder": "evaluation.grounders",
    "MomentMetric": "evaluation.metric",
    "Predictions": "base.records",
    "Protocol": "evaluation.protocols",
    "Queries": "base.records",
    "Scores": "evaluation.scores",
    "TrueMomentError": "base.errors",
    "audit": "cli.api.audits",
    "baseline": "studies.baseline.run",
    "bias": "studies.bias.run",
    "cite": "cli.api.citations",
    "compare": "studies.compare.run",
    "evaluate": "studies.evaluate.run",
    "get_protocol": "evaluation.protocols",
    "humans": "studies.humans.run",
    "index": "searching.run_index",
    "leaderboard": "studies.leaderboard.run",
    "load_annotations": "data.datasets",
    "open_features": "searching.opening",
    "parse_measure": "evaluation.measures",
    "parse_measures": "evaluation.measures",
    "predict": "cli.api.runs",
    "predict_endpoint": "cli.api.endpoints",
    "read_annotations": "data.references",
    "read_predictions": "data.formats",
    "resplit": "studies.bias.run_resplit",
    "reward": "learning.rewards",
    "search": "searching.run",
    "train": "cli.api.runs",
    "write_predictions": "data.formats",
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
    "bias",
    "cite",
    "compare",
    "evaluate",
    "get_protocol",
    "humans",
    "index",
    "leaderboard",
    "load_annotations",
    "open_features",
    "parse_measure",
    "parse_measures",
    "predict",
    "predict_endpoint",
    "read_annotations",
    "read_predictions",
    "resplit",
    "reward",
    "search",
    "train",
    "write_predictions",
]

if not TYPE_CHECKING:  # a checker of types knows the names from above

    def __getattr__(name: str) -> object:
        from importlib.util import find_spec  # noqa: PLC0415 - see the top

        if name not in _HOME and not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
            from importlib import import_module  # noqa: PLC0415 - see the top

            return import_module(f"{__name__}.{name}")
        from truemoment.base.known_names import SYNONYMS  # noqa: PLC0415 - see the top
        from truemoment.base.lazy import lazy  # noqa: PLC0415 - see the top

        if (ours := SYNONYMS.get(name)) in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}. Did you mean {ours!r}?")
        return lazy(__name__, _HOME)(name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
