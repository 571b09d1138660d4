"""The report of an evaluation, and of a baseline."""
