"""Answers without a moment: the model denies that there is one, or declines."""

from __future__ import annotations

import re
from typing import Literal

from truemoment.data.answers import words
from truemoment.data.answers.times import any_of

_DENIAL = re.compile(words.DENIAL)
_REFUSAL = re.compile(words.REFUSAL)
_MODEL = re.compile(words.A_MODEL)
_WORD = re.compile(r"[a-z]+(?:/[a-z]+)?")
_NOTHING = re.compile(
    rf"(?:boxed )?(?:(?:answers?|moments?|timestamps?|result|segments?|output|text) )?{words.NOTHING}"
)
_NO_LIST = re.compile(r"\[\s*\]|\bnull\b|:\s*none\b|^\s*\{\s*\}\s*$")
_NEVER = re.compile(r"\bnever [a-z]+(?:s|es|ed)\b")
_HAS_NO = re.compile(
    rf"\b(?:{words.VIDEO}|frames?|i) (?:has|have|see) no\b|\b(?:contains?|shows?|features?|includes?|depicts?) no\b"
    r"|\b(?:none|neither) of (?:them|it)\b|\b(?:nobody|no one)\b"
)
_HARMLESS = re.compile(rf"\b{words.HARMLESS}\b")
_NOT_THERE = re.compile(words.NOT_THERE)
_I = re.compile(r"\b(?:i|we|i'm|it's|it is) (?:[a-z]+ ){0,2}\Z")
_BUT = re.compile(words.BUT)
_CLOSEST = re.compile(words.CLOSEST)
_NO = re.compile(r"\W*no[,.;!] ")

Silence = Literal["no answer", "refused", ""]


def silence(text: str) -> tuple[Silence, tuple[int, int] | None]:
    """Return whether a plain text without a moment denies one or declines, and where.

    Examples
    --------
    >>> texts = ("the event does not occur in the video.", "i am unable to watch videos", "2 bags")
    >>> [silence(text)[0] for text in texts]
    ['no answer', 'refused', '']
    """
    bare = text.strip()
    if bare and _is_nothing(bare):
        begin = text.index(bare)
        return "no answer", (begin, begin + len(bare))
    denied, declined = denial(text), _REFUSAL.search(text)
    if declined is not None and (
        _MODEL.search(text) or denied is None or declined.start() <= denied[0] < declined.end()
    ):
        return "refused", declined.span()
    denied = denied or _span_of(_NEVER.search(text)) or _span_of(_HAS_NO.search(text))
    if denied is not None:
        return "no answer", denied
    empty = _NO_LIST.search(text)
    if empty is not None:
        return "no answer", empty.span()
    return "", None


def _is_nothing(bare: str) -> bool:
    """Whether a text is only a word for nothing, or an empty list: "None", "Answer: N/A", "[]"."""
    if len(bare) > 80 or any(map(str.isdigit, bare)):
        return False
    words = " ".join(_WORD.findall(bare))
    return _NOTHING.fullmatch(words) is not None if words else _NO_LIST.search(bare) is not None


def _span_of(match: re.Match[str] | None) -> tuple[int, int] | None:
    return None if match is None else match.span()


def denial(text: str, begin: int = 0, end: int | None = None) -> tuple[int, int] | None:
    """Return where a text first denies something, or None."""
    stop = len(text) if end is None else end
    if not any_of(words.MAY_DENY, text):
        return None
    for pattern in (_DENIAL, _HAS_NO):
        for match in pattern.finditer(text, begin, stop):
            if not _HARMLESS.search(text, max(match.start() - 16, begin), min(match.end() + 40, stop)):
                return match.span()
    return None


def declines(text: str, begin: int) -> bool:
    """Whether the model declines before the moment that begins there, in its sentence."""
    before = text[max(begin - 160, 0) : begin]
    return any_of(words.MAY_DECLINE, before) and any(
        not _BUT.search(before, match.end()) and _I.search(before, 0, match.start())
        for match in _REFUSAL.finditer(before)
    )


def denies(text: str, begin: int, end: int) -> bool:
    """Whether the moment from `begin` to `end` is denied, before it in its sentence or after it."""
    if not any_of(words.MAY_DENY, text):
        return False
    if _NO.match(text):
        return True
    low = max(begin - 160, 0)
    before = text[low:begin]
    if _NOT_THERE.search(before):
        return True
    for match in _DENIAL.finditer(before):
        if _CLOSEST.search(before, match.end()) or not _BUT.search(before, match.end()):
            return True
    return denial(text, end) is not None
