"""Evaluation: measures, protocols, scores, and the statistics of figures and of their differences."""
