"""What an answer says when it gives no moment: that there is none, or that the model declines."""

from __future__ import annotations

import re
from typing import Literal

_SEEN = (
    r"(?:occur|happen|appear|take place|exist|present|shown?|visible|found|find|seen?|contain|include|mention|depict|"
    r"display|portray|featured?|observed?|locate|identified|match|any (?:moment|such|segment|scene|instance|event)|in (?:the|this) (?:video|clip))"
)
_NOT = r"(?:\b(?:does|do|did|is|are|was|were|has|have|can|could|will)(?: not|n't| never)|\bcannot|\bcant|\bnever|\bnot|\bwithout being)"
_DENIAL = re.compile(
    rf"{_NOT}\b (?:[a-z']+ ){{0,5}}?{_SEEN}"
    r"|\bnever (?:occurs|happens|appears|shows|takes place)"
    r"|\bno (?:[a-z']+ ){0,3}?(?:moments?|events?|scenes?|segments?|actions?|such|answer|clips?|parts?|intervals?|occurrences?|"
    r"instances?|match(?:es|ing)?|timestamps?|time|evidence|footage|one)\b"
    r"|\bthere(?: is|'s| are|s) no(?:thing|body| one)?\b|\bnothing (?:in the video )?(?:matches|like|corresponds)"
    r"|\b(?:is|are) absent\b|\babsent from\b|\bnot applicable\b|\bno corresponding\b"
    r"|\"(?:found|exists?|present|occurs?|detected|match|visible)\"\s*:\s*\"?(?:false|no)\b"
    r"|没有|未出现|不存在|未发生|没出现|不出现"
)
_REFUSAL = re.compile(
    r"\b(?:cannot|can't|can not|cant|unable to|not able to|not possible to|impossible to|am not capable of|couldn't|could not|won't|will not)"
    r" (?:[a-z']+ ){0,3}?(?:watch|view|access|process|analy[sz]e|open|play|load|determine|answer|help|assist|provide|comply|"
    r"tell|identify|give|say|pinpoint|specify|see|viewing|watching|accessing|localize|estimate|directly|interpret|fulfil+|do that|do this)\b"
    r"|\bas an? (?:ai|language|large|text|artificial)\b|\bi(?:'m| am) sorry\b|\bsorry,|\bi apologi[sz]e\b"
    r"|\b(?:don't|do not|does not|doesn't) have (?:the |any |a )?(?:access|ability|capability|enough|sufficient|video|eyes|means|way)\b"
    r"|\bno (?:video|image|frames?|file|media) (?:was|were|is|has been|have been)?\s?(?:provided|attached|uploaded|given|available|found)?"
    r"|\bneed (?:more|additional|the) (?:information|context|video|details)|\bplease (?:provide|upload|share|attach) (?:the |a |your |me )?(?:actual )?(?:video|clip|file|footage|frames|recording)"
    r"|\binsufficient (?:information|context|evidence|visual)|\bnot enough (?:information|context)"
    r"|无法|抱歉|不能观看"
)
_EMPTY = re.compile(
    r"\W*(?:answer|answers|moments?|timestamps?|result|segments?|output)?\W*(?:none|null|n/a|na|nil|no|nothing|not found|no match|"
    r"no answer|no moment|no result|not applicable|nan|undefined|empty|not present|not available)?\W*"
)
_NO_LIST = re.compile(r"\[\s*\]|\bnull\b|:\s*none\b|^\s*\{\s*\}\s*$")
_HARMLESS = re.compile(
    r"\b(?:again|elsewhere|anywhere else|otherwise|other|another|outside|apart from|before that|after that|before this|"
    r"after this|afterwards?|beyond|earlier|later|any ?more|besides)\b"
)
_NOT_THERE = re.compile(
    r"\bnot (?:happening |occurring |visible |shown |present )?(?:from|between|at|in|during|within) (?:the )?\Z"
)
_MODEL = re.compile(r"\bas an? (?:ai|language|large|text|artificial)\b")
_BUT = re.compile(
    r"\b(?:but|instead|rather|however|until|except|only|though|although|yet|while|just|then|so)\b|[;.!?\n]|, (?:it|the|he|she|they)\b"
)

_MAY_DENY = ("no", "n't", "never", "absent", "false", "cant", "there", "没", "未", "不")

Silence = Literal["no answer", "refused", ""]


def silence(text: str) -> tuple[Silence, tuple[int, int] | None]:
    """Say whether a text without a moment says that there is none, or declines; and where it does.

    Parameters
    ----------
    text
        Written by :func:`~truemoment.io.answers.times.plain`.

    Examples
    --------
    >>> silence("the event does not occur in the video.")[0], silence("i am unable to watch videos")[0], silence("2 bags")[0]
    ('no answer', 'refused', '')
    """
    bare = text.strip()
    if bare and _EMPTY.fullmatch(bare) and (any(map(str.isalpha, bare)) or _NO_LIST.search(bare)):
        begin = text.index(bare)
        return "no answer", (begin, begin + len(bare))
    denied, declined = denial(text), _REFUSAL.search(text)
    if declined is not None and (
        _MODEL.search(text) or denied is None or declined.start() <= denied[0] < declined.end()
    ):
        return "refused", declined.span()
    if denied is not None:
        return "no answer", denied
    empty = _NO_LIST.search(text)
    if empty is not None:
        return "no answer", empty.span()
    return "", None


def denial(text: str, begin: int = 0, end: int | None = None) -> tuple[int, int] | None:
    """Return where a part of a text says first that something is not there; None if it does not."""
    stop = len(text) if end is None else end
    if not any(word in text for word in _MAY_DENY):
        return None
    for found in _DENIAL.finditer(text, begin, stop):
        if not _HARMLESS.search(text, max(found.start() - 16, begin), min(found.end() + 40, stop)):
            return found.span()
    return None


def denies(text: str, begin: int, end: int) -> bool:
    """Whether a moment that stands from `begin` to `end` is denied, before it in its sentence or after it."""
    if not any(word in text for word in _MAY_DENY):
        return False
    low = max(begin - 160, 0)
    before = text[low:begin]
    if _NOT_THERE.search(before):
        return True
    for found in _DENIAL.finditer(before):
        if not _BUT.search(before, found.end()):
            return True
    return denial(text, end) is not None
