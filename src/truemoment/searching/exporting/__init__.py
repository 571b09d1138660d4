"""Moments for other programs: editing timelines, subtitles, tables, predictions."""
