"""Answers of people: what a page sends, and the checks before it is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from truemoment.base.errors import InputError
from truemoment.web.annotating.study import StudySettings

MOST_MOMENTS = 50
MOST_COMMENT = 500

Verdict = Literal["", "marked", "absent", "unclear", "broken", "fits", "partly", "no fit"]
"""The verdict of a person; "" before there is one."""

VERDICTS = {
    "mark": ("marked", "absent", "unclear", "broken"),
    "verify": ("fits", "partly", "no fit", "unclear", "broken"),
}

REASONS = {
    "unclear": ("ambiguous", "not visible", "only heard", "other"),
    "partly": ("starts too early", "starts too late", "ends too early", "ends too late", "only part of the sentence"),
}

Frame = Annotated[int, msgspec.Meta(ge=0, le=(1 << 31) - 1)]
Seconds = Annotated[int, msgspec.Meta(ge=0, le=10_000_000)]


class FrameSpan(msgspec.Struct, forbid_unknown_fields=True, frozen=True, gc=False):
    """A moment as it was marked: first and last frame, both included."""

    first: Frame
    last: Frame


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer of a person to a task.

    Parameters
    ----------
    verdict
        Verdict of the person.
    reasons
        Why it is unclear, or what does not fit.
    moments
        Marked moments, in order, not overlapping.
    active_s
        Seconds of work on the task so far.
    """

    verdict: Verdict = ""
    reasons: tuple[str, ...] = ()
    comment: str = ""
    moments: tuple[FrameSpan, ...] = ()
    active_s: Seconds = 0


class SavedAnswer(Answer, frozen=True, kw_only=True, gc=False):
    """An answer as the log has it: its version, and whether it is submitted."""

    version: int
    submit: bool = False


class AnswerRequest(Answer, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of a save.

    Parameters
    ----------
    key
        Made in the page; the same key is never stored twice.
    base
        Version that the change was made on; 0 for none.
    submit
        Whether the person is done with the task.
    """

    key: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]{8,64}\Z")]
    base: Annotated[int, msgspec.Meta(ge=0, le=1 << 40)]
    submit: bool = False

    def saved(self, version: int) -> SavedAnswer:
        """Return what the log stores."""
        return SavedAnswer(
            verdict=self.verdict,
            reasons=self.reasons,
            comment=self.comment,
            moments=self.moments,
            active_s=self.active_s,
            version=version,
            submit=self.submit,
        )


def check_answer(answer: AnswerRequest, settings: StudySettings, n_frames: int) -> None:
    """Refuse an answer that is not whole: the message names the field.

    Parameters
    ----------
    n_frames
        Number of frames of the video; 0 where it does not play, then no moment can be marked.
    """
    if answer.verdict and answer.verdict not in VERDICTS[settings.task]:
        raise InputError(
            f"got {answer.verdict!r}, expected one of {', '.join(VERDICTS[settings.task])}", field="verdict"
        )
    if len(answer.comment) > MOST_COMMENT:
        raise InputError(f"got {len(answer.comment)} characters, expected at most {MOST_COMMENT}", field="comment")
    allowed = REASONS.get(answer.verdict, ())
    wrong = [reason for reason in answer.reasons if reason not in allowed]
    if wrong or len(set(answer.reasons)) < len(answer.reasons):
        raise InputError(
            f"got {list(answer.reasons)}, expected some of {', '.join(allowed) or 'none'}", field="reasons"
        )
    _check_moments(answer.moments, n_frames, several=settings.several)
    if answer.moments and answer.verdict not in ("marked", ""):
        raise InputError(f"got moments with the verdict {answer.verdict!r}, expected none", field="moments")
    if answer.submit and not answer.verdict:
        raise InputError("is missing, expected an answer before it is submitted", field="verdict")
    if answer.submit and answer.verdict == "marked" and not answer.moments:
        raise InputError("got none, expected a moment, or another answer", field="moments")
    if answer.submit and answer.verdict == "unclear" and not answer.reasons:
        raise InputError("is missing, expected why it is unclear", field="reasons")


def _check_moments(moments: Sequence[FrameSpan], n_frames: int, *, several: bool) -> None:
    if len(moments) > (MOST_MOMENTS if several else 1):
        raise InputError(f"got {len(moments)}, expected at most {MOST_MOMENTS if several else 1}", field="moments")
    end = -1
    for number, moment in enumerate(moments):
        field = f"moments[{number}]"
        if not moment.first <= moment.last < n_frames:
            problem = f"got frames {moment.first} to {moment.last}, expected 0 <= first <= last < {n_frames}"
            raise InputError(problem, field=field)
        if moment.first <= end:
            raise InputError("overlaps the moment before, or is not in order", field=field)
        end = moment.last
