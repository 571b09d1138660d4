"""Sound on the video's clock: reading, alignment of a described track with its film, where the narrator speaks.

``sound_of(path)`` yields blocks of mono sound; ``align(film, track)`` returns an :class:`Alignment`, which maps the
times of a described track to film time and back.
"""
