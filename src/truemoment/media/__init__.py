"""Media: frames, sound and speech of videos, and their features."""
