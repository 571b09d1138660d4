"""Humans: agreement of annotators, their scores, and the conclusions that they confirm."""
