"""Humans: agreement of annotators, their scores, and the conclusions that they confirm."""

from typing import TYPE_CHECKING

from truemoment.base.lazy import lazy

if TYPE_CHECKING:
    from truemoment.studies.humans.scores import human_scores
else:
    __getattr__ = lazy(__name__, {"human_scores": "scores"})

__all__ = ["human_scores"]
