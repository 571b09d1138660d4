"""Which moments a search lists, beside the best ones: sequences, all occurrences, and what is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from truemoment.base.boundary.text import as_text
from truemoment.base.errors import UsageError
from truemoment.base.request import Request, option, several

GAP_S = 30.0

MOST_SENTENCES = 10
"""Sentences of a sequence, and sentences that are avoided."""

MOST_GAP_S = 1e6


@dataclass(frozen=True, kw_only=True)
class MomentListing(Request):
    """Which moments are listed."""

    HEADING = "Which moments"

    then: tuple[str, ...] | str | Sequence[str] = option(
        "Sentence of a moment that comes next in the video; may be repeated.", (), metavar="SENTENCE"
    )
    gap: float = option("Time from a moment to the next of --then at most, seconds.", GAP_S, metavar="S")
    every: bool = option("All moments that stand out, in place of the K best.", False)
    first: bool = option("The earliest moment that stands out in each video.", False)
    avoid: tuple[str, ...] | str | Sequence[str] = option(
        "Leave out moments that stand out for this sentence; may be repeated.", (), metavar="SENTENCE", rare=True
    )
    fold: float | None = option(
        "List moments once whose mean frames have this cosine or more, such as 0.98, and count the copies.",
        metavar="COSINE",
        rare=True,
    )

    def check(self) -> None:
        """Refuse sentences without words, too many of them, and numbers that are no gap or cosine."""
        for name, sentences in (("--then", self.later), ("--avoid", self.avoided)):
            for sentence in sentences:
                if not sentence.strip():
                    raise UsageError(f"{name}: got an empty sentence, expected what to look for")
                if as_text(sentence) != sentence:
                    raise UsageError(f"{name}: got '{as_text(sentence)}', expected text in UTF-8")
            if len(sentences) >= MOST_SENTENCES:
                raise UsageError(f"{name}: got {len(sentences)} sentences, expected {MOST_SENTENCES - 1} at most")
        if not 0 <= self.gap <= MOST_GAP_S:
            raise UsageError(f"--gap: got {self.gap:g}, expected seconds, 0 to {MOST_GAP_S:,.0f}")
        if self.fold is not None and not 0 < self.fold <= 1:
            raise UsageError(f"--fold: got {self.fold:g}, expected a cosine above 0, up to 1")
        if self.every and self.first:
            raise UsageError("got --every and --first, expected one of them")

    def check_beside(self, *, said: bool, has_picture: bool = False) -> None:
        """Refuse a picture beside what is said, and either beside options that need a sentence that is seen."""
        if said and has_picture:
            raise UsageError("got --image and --said, expected one of them: a picture has no words")
        if (said or has_picture) and (self.later or self.avoided or self.must_stand_out or self.fold is not None):
            other = "--said" if said else "--image"
            raise UsageError(f"{other}: goes without --then, --every, --first, --avoid and --fold")

    def line_on_models(self, model: str) -> str:
        """Return a note where the list is that of one of several models; "" where all of them are searched."""
        if not (self.later or self.avoided or self.must_stand_out or self.fold is not None):
            return ""
        return f"--then, --every, --first, --avoid and --fold use one model: {model}; --model names another"

    @property
    def later(self) -> tuple[str, ...]:
        """Sentences of the later moments of a sequence."""
        return several(self.then)

    @property
    def avoided(self) -> tuple[str, ...]:
        """Sentences whose moments are left out."""
        return several(self.avoid)

    @property
    def must_stand_out(self) -> bool:
        """Whether only moments that stand out are listed, however many these are."""
        return self.every or self.first

    @property
    def why_nothing(self) -> str:
        """Why a list of best moments is empty."""
        if self.avoided:
            return "all stand out for what is avoided"
        return f"no moments in this order within {self.gap:g} s" if self.later else "the videos have no frame"

    def title(self, query: str) -> str:
        """Return the sentences of a search as one."""
        return ", then ".join([query, *self.later])


BEST = MomentListing()
"""The K best moments of one sentence."""
