"""Measures as papers and other programs write them, e.g. ``R1@0.5`` or ``mAP@0.75``, in the grammar of this package."""

from __future__ import annotations

import re

_NUMBER = r"(?P<iou>(?:0?\.\d+|1\.0|0\d|\d\d))"
_AT = r"[\s,@_=-]*(?:iou)?[\s@_=>-]*"
_FORMS = (
    (re.compile(rf"(?P<d>d)?(?:r|rank|recall)[@_\s-]*(?P<n>[1-9]\d*)(?:{_AT}{_NUMBER})?"), "{d}R@{n},IoU={iou}"),
    (re.compile(rf"(?P<d>d)?(?:r|recall)(?:{_AT}(?P<iou>0?\.\d+))?"), "{d}R@1,IoU={iou}"),
    (re.compile(rf"iou{_AT}{_NUMBER}"), "R@1,IoU={iou}"),
    (re.compile(r"m(?:ean)?[\s_-]*iou"), "mIoU"),
    (re.compile(rf"map{_AT}{_NUMBER}"), "mAP,IoU={iou}"),
    (re.compile(r"map(?:[\s@_-]*(?:avg|average))?"), "mAP"),
    (re.compile(r"axiou[@_\s-]*(?P<n>\d+)"), "AxIoU@{n}"),
)
"""Spellings in lower case, with the measure of each."""


def in_our_grammar(text: str) -> str | None:
    """Return a measure in the grammar of this package; None for an unknown spelling.

    A recall without a threshold is meant at IoU 0.5.

    Examples
    --------
    >>> [in_our_grammar(text) for text in ("R1@0.5", "r1_07", "Recall@5 IoU=.3", "dR@1,IoU@0.5", "mIOU", "mAP@0.75")]
    ['R@1,IoU=0.5', 'R@1,IoU=0.7', 'R@5,IoU=0.3', 'dR@1,IoU=0.5', 'mIoU', 'mAP,IoU=0.75']
    >>> in_our_grammar("accuracy")
    """
    for form, meaning in _FORMS:
        if match := form.fullmatch(text.strip().lower()):
            parts = {name: value or "" for name, value in match.groupdict().items()}
            parts["iou"] = _threshold(parts.get("iou", ""))
            return meaning.format(**parts)
    return None


def _threshold(text: str) -> str:
    """Return a threshold: "05" and "50" are 0.5."""
    if not text:
        return "0.5"
    number = float(text) if "." in text else float(text.removeprefix("0")) / 10 ** len(text.removeprefix("0"))
    return f"{number:g}"
