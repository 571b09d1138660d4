"""Contamination: predictions that recall the official annotations of a dataset."""
