"""The times in a text: position, value and unit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from truemoment.data.answers.words import ONES, ORDINALS, SPELLED, TENS, VIDEO

Unit = Literal["", "s", "%", "frame"]
"""Bare; seconds, minutes, hours or a clock (all as seconds); per cent; frames."""

MOST_DIGITS = 9
"""A number of more digits before its point is no time."""


class Time(NamedTuple):
    """A number in the characters from `begin` to `end` that may be a time; units of time are in seconds.

    `factor` has the seconds per last unit (60 for minutes), for a bare number beside it. `fault` is why it is no time
    although it looks like one. A `spelled` number without a unit is no time.
    """

    begin: int
    end: int
    value: float
    unit: Unit = ""
    factor: float = 1.0
    fault: str = ""
    spelled: bool = False


_WORDS = re.compile(rf"{SPELLED}(?![a-z])")
_DIGIT_RUN = re.compile(r"[0-9][0-9]*")
_CLOCK = re.compile(
    r"(?:(?P<h>\d{1,2}):)?(?P<m>\d{1,3}):(?P<s>\d{2})(?:[.,](?P<f>\d{1,9})|:(?P<ms>\d{3}))?(?!:?\d)", re.ASCII
)
_TIME_CODE = re.compile(r"\d{1,2}:\d{2}:\d{2}[:;]\d{2}(?![\d:])", re.ASCII)
_NUMBER = re.compile(r"(?:\.\d+|\d+(?:\.\d+)?)(?:e[+-]?\d{1,2}(?![a-z0-9]))?", re.ASCII)
_GLUED_BEFORE = re.compile(r"[a-z0-9.#$/]|(?<=[a-z0-9])_")
_COMPOUND_BEFORE = re.compile(r"(?:\d(?:[hm]|hr|min)|\d ?(?:s|sec|seconds)? ?to)\Z")
_MS = re.compile(r"(?<=\d)s\d{1,3}ms\b")
_HALF = re.compile(r" and a half\b(?= (?:seconds?|minutes?|hours?)\b|[ .,;]*(?:\Z|(?:to|and|until|till)\b))")
_LETTERS = re.compile(r"[a-z]+")
_NAMES = frozenset([*ONES, *TENS, *ORDINALS, "half"])
_UNIT = re.compile(
    r"""
    (?:\s{0,4}-?\ ?(?:
        (?P<ms>ms|msecs?|milliseconds?)
      | (?P<s>s|secs?|sec[ou]{0,2}nds?|''|″)
      | (?P<min>mins?|minutes?)
      | (?P<h>h|hrs?|hours?)
      | (?P<percent>%|percent|per\ cent)
      | (?P<frame>frames?)
      )(?![a-z])
    )
  | (?P<m>m(?![a-z])|\ m(?=\ \d+(?:\.\d+)?\ ?s)|'(?=\ ?\d))
  | (?P<ordinal>(?:st|nd|rd|th)(?![a-z])(?:[\ -](?P<nth>second|minute|frame)s?(?![a-z])
        |(?=\ (?:to|until|till|through|and)\ (?:the\ )?\d+(?:st|nd|rd|th)[\ -]
          (?P<later>second|minute|frame)s?(?![a-z])))?)
  | (?P<glued>[a-z_]|\.\d|/\d)
    """,
    re.VERBOSE,
)
_BEFORE = re.compile(
    r"\b(?:(?P<s>sec(?:ond)?s?)|(?P<min>minutes?)"
    r"|(?P<frame>frames?(?:\ (?:number|index|no\.?))?))\ ?[:#=]?\ ?"
    r"(?:(?<=s )\d+(?:\.\d+)?\ (?:and|to|-)\ )?\Z"
)
_SECOND_BEFORE = re.compile(r"\b(?:from|at|to|until|till|through|and|between|around|about|by|near|-) second \Z")
"""Before a number in words: "from second seven", but not "the second two minutes"."""
_SECONDS = {"ms": 0.001, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0, "second": 1.0, "minute": 60.0}
RELATIVE = "relative to another time"
_RELATIVE = re.compile(
    r"\s(?:later|earlier|ago|afterwards?)\b|\sfrom the (?:very )?end\b"
    r"|\s(?:before|after|prior to) (?:the|his|her|their|its|an?|he|she|it|they|that|this|which)\b"
    rf"(?! (?:(?:very )?(?:start|beginning)|{VIDEO} (?:starts|begins))\b)"
)
"""Behind a number of seconds that count from something in the video."""
_OF_A_DAY = re.compile(r"\s?[ap]\.?m\b")
FARTHEST_JOINED = 10
"""Characters between two numbers from which on they are never one time."""
_COMMA_PAIR = re.compile(r"\d+,\d{1,2} ?- ?\d+,\d{1,2}\s*[\])]")
_SECONDS_OF_IT = re.compile(r"[0-5]?\d(?:\.\d+)?")
_GOES_ON = re.compile(r"\s?(?:\Z|[.,;)\]\n-]|(?:to|until|till|through|and)\b)")
"""Behind "1 minute 12": nothing that 12 could count."""
_JOINED = re.compile(r"[ ,.]{0,2}(?:and )?\Z")


def any_of(signs: Iterable[str], text: str) -> bool:
    """Whether a text contains one of some signs; faster than a pattern."""
    for sign in signs:  # noqa: SIM110 - a generator takes three times as long
        if sign in text:
            return True
    return False


def find_times(text: str) -> list[Time]:
    """Return every number of a plain text that may be a time, in order.

    Numbers glued to letters, ordinals and the like are left out; "1 minute 5 seconds" is one time, and so is "12.3 s
    (0:12)".

    Examples
    --------
    >>> [(time.value, time.unit) for time in find_times("2 bags, 1m5s to 0:01:20.5, step3, 1080p")]
    [(2.0, ''), (65.0, 's'), (80.5, 's')]
    """
    times: list[Time] = []
    depth, end = 0, 0
    for time in _numbers(text):
        between = text[end : time.begin]
        if "[" in between or "(" in between or depth:
            depth += between.count("[") + between.count("(") - between.count("]") - between.count(")")
            depth = max(depth, 0)
        near = times and len(between) < FARTHEST_JOINED
        joined = _join(times[-1], time, between, in_brackets=depth > 0, text=text) if near else None
        if joined is None:
            times.append(time)
        else:
            times[-1] = joined
        end = times[-1].end
    afters: list[Time | None] = [*times[1:], None][: len(times)]
    return [
        time
        for time, after in zip(times, afters, strict=True)
        if not time.spelled
        or time.unit
        or (after is not None and after.unit == "s" and after.begin - time.end < 20)  # "five to ten seconds"
    ]


def _numbers(text: str) -> Iterator[Time]:
    """Yield numbers in digits and, if there are any, in words, in order."""
    has_unit = "second" in text or "minute" in text or "hour" in text
    spelled = list(_WORDS.finditer(text)) if has_unit and not _NAMES.isdisjoint(_LETTERS.findall(text)) else []
    end = 0
    for match in _DIGIT_RUN.finditer(text):
        while spelled and spelled[0].start() < match.start():
            yield from _of_word(spelled.pop(0), text)
        if match.start() < end:
            continue  # after the point of the number before
        time = _of_digits(*match.span(), text)
        if time is not None:
            end = time.end
            yield time
    for word in spelled:
        yield from _of_word(word, text)


def _of_digits(begin: int, end: int, text: str) -> Time | None:
    """Read the number whose first digits are given; None if it is glued to something."""
    before = text[begin - 1] if begin else ""
    if before == ":" and begin > 1 and text[begin - 2] in "0123456789":
        return None  # inside of what looks like a clock and is none
    if text[end : end + 1] == ":" and text[end + 1 : end + 2].isdigit() and before != ".":
        return _with_colons(begin, before, text)
    if before == "." and not (begin > 1 and text[begin - 2] in "0123456789."):
        begin -= 1
        before = text[begin - 1] if begin else ""
    elif before == ".":
        before = ""
    glued = bool(before) and _GLUED_BEFORE.match(text, begin - 1) is not None
    if glued and not (_COMPOUND_BEFORE.search(text, max(begin - 12, 0), begin) or _MS.match(text, begin - 1)):
        return None
    number = _NUMBER.match(text, begin)
    if number is None or (number.end() - begin > MOST_DIGITS and len(number[0].partition(".")[0]) > MOST_DIGITS):
        return None
    return _with_half(begin, number.end(), float(number[0]), text)


def _with_colons(begin: int, before: str, text: str) -> Time | None:
    """Read numbers with colons between them: a clock, or a time code, which counts frames; None if they are neither."""
    code = _TIME_CODE.match(text, begin)
    if code is not None:
        return Time(begin, code.end(), 0.0, "s", fault="a time code with frames")
    clock = _CLOCK.match(text, begin)
    return _clock(clock) if clock is not None and (not before or not _GLUED_BEFORE.match(text, begin - 1)) else None


def _of_word(word: re.Match[str], text: str) -> Iterator[Time]:
    time = _with_half(*word.span(), _value_of(word[0]), text, spelled=word[0])
    if time is not None:
        yield time


def _with_half(begin: int, end: int, value: float, text: str, *, spelled: str = "") -> Time | None:
    """Return a number, or one "and a half", with the unit after it."""
    half = _HALF.match(text, end)
    if half is not None:
        return _with_unit(begin, half.end(), value + 0.5, text, spelled=spelled)
    return _with_unit(begin, end, value, text, spelled=spelled)


def _clock(match: re.Match[str]) -> Time:
    hours, minutes, seconds = int(match["h"] or 0), int(match["m"]), int(match["s"])
    value = 3600.0 * hours + 60.0 * minutes + float(f"{seconds}.{match['f'] or match['ms'] or 0}")
    fault = "" if seconds < 60 and (minutes < 60 or not match["h"]) else "60 or more seconds in a minute"
    if not fault and _OF_A_DAY.match(match.string, match.end()):
        fault = "a time of day"
    unit = _UNIT.match(match.string, match.end())
    end = unit.end() if unit and (unit["s"] or unit["min"] or unit["h"]) else match.end()
    return Time(match.start(), end, value, "s", 1.0, fault)


def _with_unit(begin: int, end: int, value: float, text: str, *, spelled: str = "") -> Time | None:
    """Return a number with the unit after it; None if it is glued to letters, or counts an order."""
    unit = _UNIT.match(text, end)
    if unit is None:
        return _bare(begin, end, value, text, spelled=bool(spelled))
    if unit["glued"] or (unit["ordinal"] and not (unit["nth"] or unit["later"])):
        return None
    kind = unit["nth"] or unit["later"] or unit.lastgroup or ""
    if kind in _SECONDS:
        relative = not unit["ordinal"] and _RELATIVE.match(text, unit.end()) is not None
        fault = RELATIVE if relative else ""
        return Time(begin, unit.end(), in_seconds(value, _SECONDS[kind]), "s", _SECONDS[kind], fault)
    return Time(begin, unit.end(), value, "%" if kind == "percent" else "frame")


def in_seconds(value: float, factor: float) -> float:
    """Multiply without the last bits of the product: 0.1 min is 6 s."""
    return value if factor == 1 else round(value * factor, 9)


def _bare(begin: int, end: int, value: float, text: str, *, spelled: bool) -> Time | None:
    """Return a number without a unit after it; "second 12" and "frame 12" have the unit before it."""
    if spelled and text[begin] in "ah":
        return None  # "a", "half a" of something that is no time
    low = max(begin - 24, 0)
    has_unit = (not spelled or _SECOND_BEFORE.search(text, low, begin)) and any_of(
        ("sec", "frame", "minut"), text[low:begin]
    )
    before = _BEFORE.search(text, low, begin) if has_unit else None
    if before is not None and before["frame"]:
        return Time(begin, end, value, "frame")
    factor = 60.0 if before is not None and before["min"] else 1.0
    if before is not None and not re.search(r"\d\s*-?\Z", text[max(before.start() - 4, 0) : before.start()]):
        return Time(begin, end, in_seconds(value, factor), "s", factor)
    return Time(begin, end, value, spelled=spelled)


def _value_of(spelled: str) -> float:
    if spelled.startswith("half"):
        return 0.5
    if spelled in ("a", "an"):
        return 1.0
    tens, _, ones = spelled.replace("-", " ").partition(" ")
    values = ONES | ORDINALS
    return float(TENS.get(tens, 0) + values.get(ones or tens, 0))


def _join(last: Time, time: Time, between: str, *, in_brackets: bool, text: str) -> Time | None:
    """Return two numbers as one time if they form one: "1 min 5 s", "12,3", "12.3 s (0:12)"; else None."""
    if between == " or " and last.unit in ("", time.unit) and time.unit == "s":
        return time._replace(begin=last.begin, fault=time.fault or "one time or another")
    digits = text[time.begin : time.end]
    joined = _compound(last, time, between, digits, text)
    before_comma = not last.unit or (last.unit == "s" and last.factor == 1 and text[last.end - 1].isdigit())
    whole = between == "," and before_comma and last.value == int(last.value)
    if whole and (not in_brackets or _COMMA_PAIR.search(text, max(last.begin - 16, 0), time.end + 16)):
        joined = joined or _with_comma(last, time, digits)
    if joined is None and between.strip() in ("(", "[", "(=", "=", "(~", "(i.e.,", "(i.e."):
        joined = _same_time(last, time, between.strip() == "=", text)
    return joined


def _compound(last: Time, time: Time, between: str, digits: str, text: str) -> Time | None:
    """Join "1 minute" and "5 seconds", or "3min" and "05"."""
    value = last.value + time.value
    if not between and last.unit == "s" and last.factor == 60 and not time.unit and time.value < 60:
        return Time(last.begin, time.end, value, "s")
    if between == " " and last.unit == "s" and last.factor == 60 and not time.unit and _SECONDS_OF_IT.fullmatch(digits):
        return Time(last.begin, time.end, value, "s") if _GOES_ON.match(text, time.end) else None
    both_units = last.unit == time.unit == "s" and last.factor >= 60 * time.factor and ":" not in digits
    if not both_units or time.fault or not _JOINED.match(between):
        return None
    if time.value < last.factor:
        return Time(last.begin, time.end, value, "s", time.factor)
    if between.strip():
        return None  # "between 1 minute and 90 seconds" are two
    return Time(last.begin, time.end, value, "s", fault="60 or more seconds in a minute")


def _with_comma(last: Time, time: Time, digits: str) -> Time | None:
    """Join numbers separated by a comma only: a decimal comma before one or two digits, thousands before three."""
    behind = re.match(r"\d+", digits)
    if behind is None:
        return None
    if len(behind[0]) <= 2 and "." not in digits and ":" not in digits:
        value = float(f"{int(last.value)}.{behind[0]}") * time.factor
        return time._replace(begin=last.begin, value=value, unit=time.unit or last.unit)
    if len(behind[0]) == 3 and last.value < 1000 and time.unit in ("", "s"):
        return time._replace(begin=last.begin, value=last.value * 1000 * time.factor + time.value)
    return None


def _same_time(last: Time, time: Time, equals: bool, text: str) -> Time | None:
    """Join a time and the same time repeated in brackets; the one with decimals counts."""
    closes = equals or text[time.end : time.end + 1] in (")", "]")
    units = {last.unit, time.unit}
    if not closes or "s" not in units or not units <= {"", "s"} or abs(last.value - time.value) >= 1:
        return None
    finer = time if time.value != int(time.value) and last.value == int(last.value) else last
    return finer._replace(begin=last.begin, end=time.end + (not equals), unit="s")
