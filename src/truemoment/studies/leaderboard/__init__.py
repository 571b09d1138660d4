"""Leaderboards: the systems of a folder, measured, compared and audited together.

:mod:`~truemoment.studies.leaderboard.entries` reads ``leaderboard.yaml``;
:mod:`~truemoment.studies.leaderboard.running` computes.
"""
