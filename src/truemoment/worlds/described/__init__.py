"""Simulated films with audio description, whose every sentence, delay and cut is known.

``make_described(out, minutes=3, seed=0)`` writes a film, its described track and its subtitles, and returns the
:class:`Truth`. Figures on such films show that the steps work; they say nothing about real films.
"""
