"""Did the model find the moment, or did it guess where moments usually are? TrueMoment measures which."""

__version__ = "0.1.0"

from truemoment.datasets import load_annotations, read_own_annotations
from truemoment.evaluation import Scores, evaluate
from truemoment.exceptions import TrueMomentError
from truemoment.grounders import Grounder
from truemoment.io import read_predictions, write_predictions
from truemoment.measures import parse_measure, parse_measures
from truemoment.protocols import Protocol, get_protocol
from truemoment.records import Annotations, Predictions, Queries

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
