"""Predictions and scores of a blind baseline or an oracle."""
