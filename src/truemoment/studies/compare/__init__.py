"""Comparison of methods, runs, splits and trainings, and its report."""
