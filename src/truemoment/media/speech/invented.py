"""Text that an engine invents over music and silence: the same words again and again."""

from __future__ import annotations

from collections.abc import Sequence

from truemoment.media.speech.base import HeardWord

LENGTH, TIMES = 6, 3
"""The same 6 words three times running are invented."""


def without_repeats(words: Sequence[HeardWord]) -> tuple[list[HeardWord], int]:
    """Return the words without runs in which the same 6 words come three times or more, and the number dropped.

    Examples
    --------
    >>> once = [HeardWord(text, k, k + 1) for k, text in enumerate("thank you so much for watching".split())]
    >>> without_repeats(once * 3), without_repeats(once * 2)[1]
    (([], 18), 0)
    """
    texts = [word.text.lower().strip(".,!?") for word in words]
    dropped = [False] * len(words)
    k = 0
    while k + LENGTH * TIMES <= len(texts):
        end = k + LENGTH
        while texts[end : end + LENGTH] == texts[k : k + LENGTH]:
            end += LENGTH
        if end - k >= LENGTH * TIMES:
            dropped[k:end] = [True] * (end - k)
            k = end
        else:
            k += 1
    return [word for word, out in zip(words, dropped, strict=True) if not out], sum(dropped)
