"""Media: frames, sound and speech of videos, and features made of them."""
