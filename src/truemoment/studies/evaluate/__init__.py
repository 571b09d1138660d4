"""Predictions measured against annotations, and the report."""
