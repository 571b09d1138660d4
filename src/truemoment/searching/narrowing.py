"""Which videos of an index are searched: filters by name, folder, date, time of day and length.

The videos that fit are chosen before anything is ranked, so the first stage and the list see no other video. A moment
has the same score and match as in a search of all videos: what it is compared with is the whole index.

The date of a video is the creation time in its container, which indexing keeps, or else the time of its file's last
change. A video with neither has no date.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from truemoment.base.errors import InputError, UsageError
from truemoment.base.request import Request, option, several

if TYPE_CHECKING:
    from truemoment.searching.index import Index

FILTERS = ("file", "folder", "date", "time", "length")

Range = tuple[str, str]  # first and last value, "" for none

_DAY = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")
_CLOCK = re.compile(r"([01]\d|2[0-3])(:[0-5]\d)?")
_SECONDS = re.compile(r"\d{1,9}(\.\d{1,3})?")


@dataclass(frozen=True, kw_only=True)
class Narrowing(Request):
    """Which videos of an index are searched; a video has to fit every option."""

    HEADING = "Only some videos"

    file: tuple[str, ...] | str | Sequence[str] = option(
        "File name, with * and ? for any characters; may be repeated for others.", (), metavar="PATTERN"
    )
    folder: tuple[str, ...] | str | Sequence[str] = option(
        "Folder, or folders in it; may be repeated for others.", (), metavar="DIR", rare=True
    )
    date: str | None = option(
        "Day, month or year, such as 2024-05 or 2024-05-01..2024-06-15: the creation time that the video states, or "
        "the time of its file.",
        metavar="FROM..TO",
        rare=True,
    )
    time: str | None = option(
        "Time of day at which the video begins, such as 18:00..23:30 or 22..05.", metavar="FROM..TO", rare=True
    )
    length: str | None = option("Length in seconds, such as 60..600 or ..90.", metavar="FROM..TO", rare=True)

    def check(self) -> None:
        """Refuse patterns and folders without a name, and what is no range."""
        for name, values in (("--file", several(self.file)), ("--folder", several(self.folder))):
            if not all(value.strip() and "\0" not in value for value in values):
                raise UsageError(f"{name}: got an empty name, expected one such as 'holiday*'")
        _ = self._days, self._clock, self._lengths_s

    @property
    def _days(self) -> Range | None:
        expected = "a year, month or day, such as 2024-05-31, or FROM..TO"
        days = _read_range("--date", self.date, _DAY, expected)
        for day in days or ():
            try:
                date.fromisoformat(f"{day or '2000'}-01-01"[:10])
            except ValueError:
                raise UsageError(f"--date: got {day!r}, expected {expected}") from None
        if days and all(days) and days[0] > days[1] and not days[0].startswith(days[1]):
            raise UsageError(f"--date: got {self.date}, which ends before it begins")
        return days

    @property
    def _clock(self) -> Range | None:
        return _read_range("--time", self.time, _CLOCK, "hours and minutes, such as 18:00..23:30 or 22..05")

    @property
    def _lengths_s(self) -> tuple[float, float] | None:
        lengths = _read_range("--length", self.length, _SECONDS, "seconds, such as 60..600 or ..90")
        if lengths is None:
            return None
        low, high = float(lengths[0] or 0), float(lengths[1] or "inf")
        if low > high:
            raise UsageError(f"--length: got {self.length}, which ends before it begins")
        return low, high

    def videos(
        self, index: Index, names: Iterable[str] | None = None, note: Callable[[str], None] = lambda _: None
    ) -> list[str] | None:
        """Return the videos that fit, of some or, with None, of all; None for all of the index.

        Parameters
        ----------
        index
            The index.
        names
            Which of its videos.
        note
            Receives a line on how many fit.

        Raises
        ------
        UsageError
            If no video fits.
        """
        given = {name: several(value) for name in FILTERS if (value := getattr(self, name))}
        if not given:
            return None if names is None else list(names)
        asked = sorted(index if names is None else names)
        about = {name: index.about(name) for name in asked}
        path = {name: Path(video.path) for name, video in about.items()}
        some = asked
        if patterns := [pattern.lower() for pattern in several(self.file)]:
            some = [name for name in some if any(fnmatchcase(path[name].name.lower(), pattern) for pattern in patterns)]
        if folders := [Path(folder) for folder in several(self.folder)]:
            some = [name for name in some if any(is_in(path[name], folder) for folder in folders)]
        if self._lengths_s is not None:
            low_s, high_s = self._lengths_s
            some = [name for name in some if low_s <= about[name].duration_s <= high_s]
        undated = 0
        if self.date or self.time:
            dates = {name: recorded_at(index, name) for name in some}
            undated = sum(at is None for at in dates.values())
            some = [name for name, at in dates.items() if at is not None and self._fits_date(at)]
        without = f"; {undated:,} others have no date, because their files are gone" if undated else ""
        if not some:
            options = " ".join(f"--{name} {shlex.quote(value)}" for name, values in given.items() for value in values)
            raise UsageError(f"{options}: no video of {len(asked):,} fits{without}")
        note(f"{len(some):,} of {len(asked):,} videos are searched{without}")
        return some

    def _fits_date(self, at: datetime) -> bool:
        days, clock = self._days, self._clock
        is_between = days is None or _is_within(at.strftime("%Y-%m-%d"), *days)
        if clock is None or not is_between:
            return is_between
        now, (low, high) = at.strftime("%H:%M"), clock
        if low and high and low > high:  # over midnight
            return _is_within(now, low, "") or _is_within(now, "", high)
        return _is_within(now, low, high)


def is_in(path: Path, folder: Path) -> bool:
    """Whether a file is in a folder: its path has the names of the folder one after another.

    Examples
    --------
    >>> path = Path("/films/2024/summer/beach.mp4")
    >>> [is_in(path, Path(folder)) for folder in ("summer", "films/2024", "/films", "/summer", "films/summer")]
    [True, True, True, False, False]
    """
    if not folder.parts or ".." in folder.parts:
        folder = folder.resolve()
    wanted, parts = folder.parts, path.parent.parts
    return any(parts[k : k + len(wanted)] == wanted for k in range(len(parts)))


def recorded_at(index: Index, name: str) -> datetime | None:
    """Return when a video was recorded, in the time zone of this machine; None where that is unknown."""
    about = index.about(name)
    if about.created:
        try:
            return datetime.fromisoformat(about.created).astimezone()
        except (ValueError, OverflowError, OSError):
            problem = f"got {about.created!r}, expected a date and time in ISO 8601"
            raise InputError(problem, path=index.path, field=f"created of {name}", hint="index it again") from None
    path = Path(about.path)
    for candidate in (path, index.path.absolute().parent / path.name):
        try:
            return datetime.fromtimestamp(candidate.stat().st_mtime).astimezone()
        except (OSError, ValueError):
            continue
    return None


def _is_within(value: str, low: str, high: str) -> bool:
    """Whether a date or time lies in a range whose ends may be shorter: 2024-05 is all of May."""
    return (not low or value[: len(low)] >= low) and (not high or value[: len(high)] <= high)


def _read_range(name: str, text: str | None, pattern: re.Pattern[str], expected: str) -> Range | None:
    """Read FROM..TO, FROM.., ..TO, or one value for both ends."""
    if text is None:
        return None
    low, dots, high = (part.strip() for part in text.partition(".."))
    ends = (low, high if dots else low)
    if not any(ends) or not all(not end or pattern.fullmatch(end) for end in ends):
        raise UsageError(f"{name}: got {text!r}, expected {expected}")
    return ends


ALL_VIDEOS = Narrowing()
