"""Training: recipes, examples, a plain loop, checkpoints that hold tensors and nothing else.

Modules in the order in which a run uses them:

==============  =====================================================================
recipes         the settings of a run
vocabulary      words and their vectors
examples        annotations and features as tensors
window_pairs    windows to learn from and to answer with, for models that have windows
answering       pairs of queries and videos to answer
network         words and model together
epoch_data      the pairs of an epoch: whole videos, or windows drawn again every epoch
loop            epochs, the measure on the validation split, early stopping
checkpoints     the files of a run's folder
grounder        the trained method, a Grounder like any other
preparation     from options to what a run learns from and predicts
runs            a run from its recipe to its figures
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
    from truemoment.learning.training.grounder import TrainedGrounder
    from truemoment.learning.training.validation import Validation
else:
    __getattr__ = lazy(
        __name__,
        {
            "Validation": "validation",
        },
    )

__all__ = ["Validation", "load_model"]


def load_model(folder: AnyPath, **how: Any) -> TrainedGrounder:  # noqa: ANN401 - those of load_grounder
    """Load a trained method: :func:`truemoment.learning.training.grounder.load_grounder`, and PyTorch only now."""
    from truemoment.learning.training.grounder import load_grounder  # noqa: PLC0415 - see above

    return load_grounder(folder, **how)
