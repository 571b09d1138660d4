"""Answers written in words, read as moments.

Video language models answer with sentences. ``parse_answer(text)`` reads one;
:func:`truemoment.data.formats.parsed_answers.parse_rows` reads those of a file. An answer with two possible readings is
*ambiguous*; no unit is guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from truemoment.base.lazy import lazy

if TYPE_CHECKING:
    from truemoment.data.answers.reading import VERSION, ParsedAnswer, Reading
    from truemoment.data.answers.sentence import parse_answer
else:
    __getattr__ = lazy(
        __name__, {"ParsedAnswer": "reading", "Reading": "reading", "VERSION": "reading", "parse_answer": "sentence"}
    )

__all__ = ["VERSION", "ParsedAnswer", "Reading", "parse_answer"]
