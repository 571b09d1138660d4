"""Models: networks that score candidate moments or rank clips, one file a family.

===========  =======================================================================================================
tan2d        2D-TAN (Zhang et al. 2020): a map of candidate moments, convolved
blind-tan    Blind-TAN (Otani et al. 2020): the same without the video; a floor that learns
tcn-dcm      TCN-DCM (Yang et al. 2021): content and location apart, the location adjusted for
mdd          MDD (Lan et al. 2023): phrases, position reconstruction, several confounders
ablr         ABLR (Yuan et al. 2019): attention between video and words, and a regression of both ends
ctrl         CTRL (Gao et al. 2017): sliding windows scored against the sentence, with a regression of both ends
acrn         ACRN (Liu et al. 2018): CTRL with an attention over a window and its contexts, and a tensor fusion
drn          DRN (Zeng et al. 2020): each location of a pyramid over time regresses both ends; three stages
scdm         SCDM (Yuan et al. 2019): anchors on a temporal pyramid whose rows the words modulate
vlg-net      VLG-Net (Soldan et al. 2021): clips and words as two graphs that are matched
tsp-prl      TSP-PRL (Wu et al. 2020): an agent moves a window, by a tree of policies that learns from rewards
wssl         WSSL (Duan et al. 2018): a localizer and a caption generator, trained without times
moment-detr  Moment-DETR (Lei et al. 2021): a transformer whose slots become moments; rates every clip
qd-detr      QD-DETR (Moon et al. 2023): words go into the clips first, and moments are refined; rates every clip
flash-vtg    FlashVTG (Cao et al. 2025): each point of a pyramid over the clips regresses a moment; rates every clip
===========  =======================================================================================================

Two rank clips by text instead (:mod:`truemoment.learning.models.retrieval_model`): ``mean-pool``, the mean direction of
the frames, and ``frame-sequence``, a transformer over them (CLIP4Clip, Luo et al. 2021).

Importing this package loads no PyTorch; :func:`get_family` does.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from truemoment.base.errors import MissingPackageError, UsageError
from truemoment.base.known_names import one_of_known
from truemoment.base.registry import Registry

if TYPE_CHECKING:
    from truemoment.learning.models.base import Inputs, Need, TrainableModel
    from truemoment.learning.training.task import Task

__all__ = ["FAMILIES", "Family", "get_family"]


class Family(NamedTuple):
    """A family of models.

    Parameters
    ----------
    title
        What reports call it.
    settings
        Type of its settings.
    build
        Builds a model from settings and widths.
    needs
        Inputs of the model beside the words.
    task
        What prepares and validates its runs, and answers with them.
    """

    title: str
    settings: type[Any]
    build: Callable[[Any, Inputs], TrainableModel]
    needs: frozenset[Need]
    task: Task

    @property
    def sees_video(self) -> bool:
        """Whether it gets features of the video."""
        return "video" in self.needs


FAMILIES: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "tan2d": ("2D-TAN", "tan2d", "Tan2D"),
        "blind-tan": ("Blind-TAN", "blind_tan", "BlindTan"),
        "tcn-dcm": ("TCN-DCM", "tcn_dcm", "TCNDCM"),
        "mdd": ("MDD", "mdd", "MDD"),
        "ablr": ("ABLR", "ablr", "Ablr"),
        "ctrl": ("CTRL", "ctrl", "Ctrl"),
        "acrn": ("ACRN", "acrn", "Acrn"),
        "drn": ("DRN", "drn", "Drn"),
        "scdm": ("SCDM", "scdm", "Scdm"),
        "vlg-net": ("VLG-Net", "vlg_net", "VlgNet"),
        "tsp-prl": ("TSP-PRL", "tsp_prl", "TspPrl"),
        "wssl": ("WSSL", "wssl", "Wssl"),
        "moment-detr": ("Moment-DETR", "moment_detr", "MomentDetr"),
        "qd-detr": ("QD-DETR", "qd_detr", "QdDetr"),
        "flash-vtg": ("FlashVTG", "flash_vtg", "FlashVtg"),
        "mean-pool": ("mean pooling", "mean_pool", "MeanPool"),
        "frame-sequence": ("sequential head", "frame_sequence", "FrameSequence"),
    }
)
"""Title, module and class of each family by name; the settings are the class name with ``Settings``."""

OTHERS = Registry[Family]("models", {}, Family, reserved=FAMILIES)
"""Families of other installed packages."""


def get_family(name: str) -> Family:
    """Return a family by name. A recipe asks once: :attr:`truemoment.learning.training.recipes.Recipe.family`."""
    if name not in FAMILIES:
        if name in OTHERS:
            return OTHERS[name]
        raise UsageError(f"unknown model {name!r}, expected {one_of_known(name, [*FAMILIES, *OTHERS])}")
    title, module_name, class_name = FAMILIES[name]
    try:
        module = importlib.import_module(f"truemoment.learning.models.{module_name}")
        model = getattr(module, class_name)
        task = importlib.import_module(f"truemoment.learning.training.{model.task}").TASK
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("truemoment"):
            raise
        raise MissingPackageError(error.name, "models", f"the model {name}") from None
    return Family(title, getattr(module, f"{class_name}Settings"), model, model.needs, task)
