"""Layers that models share, one per file."""
