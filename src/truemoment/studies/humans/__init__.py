"""Humans: agreement of annotators, their scores, and the conclusions that they confirm."""

from truemoment.studies.humans.scores import human_scores

__all__ = ["human_scores"]
