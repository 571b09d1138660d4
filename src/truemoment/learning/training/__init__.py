"""Training: recipes, examples, a plain loop, checkpoints of tensors only.

Modules in the order in which a run uses them; :mod:`~truemoment.learning.training.performing` shows the whole way:

==============  =====================================================================
recipes         the settings of a run
run             a recipe with its annotations, features and sentences, resolved once
performing      a run from its recipe to its figures
task            what differs between kinds of models: the contract of the next two
trained         a trained method, loaded from the folder of its run
grounding       models that answer queries with moments; the trained method, a Grounder
ranking         models that rank clips by text; the trained method
vocabulary      words and their vectors
network         words and model together
examples        annotations and features as tensors
video_pairs     the pairs of an epoch: whole videos, or windows drawn again every epoch
window_pairs    windows to learn from and to answer with, for models that have windows
clip_pairs      the pairs of an epoch of a model that ranks clips
answering       pairs of queries and videos to answer, and their moments
loop            epochs, the measure on the validation split, early stopping
checkpoints     the files of a run's folder
results         figures in a CSV file
sweep           a grid of runs over the values of one dial
variants        variants of one method, for studies of model selection
==============  =====================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.lazy import lazy

if TYPE_CHECKING:
    from truemoment.learning.training.grounding import TrainedGrounder
    from truemoment.learning.training.validation import Validation
else:
    __getattr__ = lazy(__name__, {"Validation": "validation"})

__all__ = ["Validation", "load_model"]


def load_model(folder: AnyPath, **options: Any) -> TrainedGrounder:  # noqa: ANN401 - those of TrainedGrounder.load
    """Load a trained method, see :meth:`~truemoment.learning.training.trained.TrainedNetwork.load`."""
    from truemoment.learning.training.grounding import TrainedGrounder  # noqa: PLC0415 - imports PyTorch

    return TrainedGrounder.load(folder, **options)
