"""Did the model find the moment, or did it guess where moments usually are? TrueMoment measures which."""

from truemoment.datasets import load_annotations, read_own_annotations
from truemoment.evaluation import evaluate
from truemoment.exceptions import TrueMomentError
from truemoment.grounders import Grounder
from truemoment.io import read_predictions, write_predictions
from truemoment.measures import parse_measure, parse_measures
from truemoment.protocols import Protocol, get_protocol
from truemoment.records import Annotations, Predictions, Queries
from truemoment.scores import Scores
from truemoment.version import __version__

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
