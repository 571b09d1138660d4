"""Answers written in words, read as moments.

Video language models answer with sentences. ``parse_answer(text)`` reads one; :func:`parse_rows` reads those of a
file and reports how. An answer is read or it is not: what can be read in two ways is *ambiguous*, and no unit is
guessed.
"""

from __future__ import annotations

from truemoment.io.answers.report import parse_rows
from truemoment.io.answers.sentence import parse_answer
from truemoment.io.reading import VERSION, Answer, Reading

__all__ = ["VERSION", "Answer", "Reading", "parse_answer", "parse_rows"]
