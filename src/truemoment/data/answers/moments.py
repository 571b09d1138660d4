"""The moments of a text: two joined times, or one time and an end of the video."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from truemoment.data.answers import words
from truemoment.data.answers.times import RELATIVE, Time, Unit
from truemoment.data.answers.words import Label

REACH = 100
"""Characters between two times beyond which nothing joins them."""
MOST_WHOLE_HOURS_S = 6 * 3600
"""Hours without minutes, from here on, may be the time of day."""
NEGATIVE = "a negative time"
"""Fault of a moment such as [-1, -1]."""
FIRST = "the start to an end"
"""How a moment from the start of the video is recognised."""
LABEL_REACH = 60
"""Characters before a time beyond which no label belongs to it."""


class Moment(NamedTuple):
    """A moment in the characters from `begin` to `stop` of a text; an infinite end is the end of the video.

    Bare numbers, without a unit, are on the axis. `how` is how it was recognised, and `fault` why it is ambiguous; ""
    if it is not.
    """

    begin: int
    stop: int
    start: float
    end: float
    unit: Unit
    how: str
    fault: str = ""
    one_sided: bool = False


_WORD = re.compile(r"[a-z_]+|\.{2,}|[^\sa-z_]")
_LABEL_WORD = re.compile(words.LABEL_WORD)
_SENTENCE = re.compile(r"[.!?]\s")
_TAG = re.compile(r"</?([a-z_]{1,20})>")
_FOLLOWER = re.compile(
    rf"[ \t]{{0,3}}(?P<word>(?:[^\W\d_]|')+)(?P<video>(?: the| this)? {words.VIDEO})?|-[a-z]|\s?[-/]\s?\d|\s?[€$£¥₹₽°]"
)
_NUMBERED = re.compile(rf"\b{words.NUMBERED_THINGS}s?\.?\s?#?\Z")
_TO_THE_END = re.compile(words.TO_THE_END)
_FROM_THE_START = re.compile(words.FROM_THE_START)
_NOT_UNTIL = re.compile(words.NOT_UNTIL)
_BEFORE_THE_END = re.compile(words.BEFORE_THE_END)
_WHOLE = re.compile(words.WHOLE)
_NEEDED = re.compile(
    rf"\b{words.one_of('need needs require provide share upload send access watch view without process load')}\b"
    r"[^.;\n]{0,24}\Z"
)
_VIDEO_IS = re.compile(words.VIDEO_IS)
_AFTER = re.compile(r"\bafter (?:about |around |the )?\Z")
_VIDEO = re.compile(rf"\b{words.VIDEO}\b")
_LASTS = re.compile(words.LASTS)
_ASIDE = re.compile(words.ASIDE_IN_RANGE)
_LATER = re.compile(words.LATER)
_SPAN_OF = re.compile(words.SPAN_OF)
_NAMED_BEHIND = re.compile(words.NAMED_BEHIND)
_VALUE = re.compile(r"[a-z_][\"'>]?\s?(?:[:=>]|time[:=]?|at|from)\s?[\"']?\Z|<[a-z_]{1,20}>\Z")
"""A label right before a number, as in "start: 12", which then needs no unit."""
_MINUS = ("-", " -", "\n-", "[-", "(-", "=-", ":-", ",-")
"""A minus right before a number that nothing before it could make a dash of."""


def find_moments(text: str, times: Sequence[Time]) -> list[Moment]:
    """Return the moments of a plain text, in order, given its times."""
    times = [time for time in times if not _counts(text, time)]
    moments: list[Moment] = []
    at, used_to = 0, 0  # next time; end of what is used up
    while at < len(times):
        n_times, moment = _moment_at(text, times, at, used_to)
        if moment is not None and not (moment.how == FIRST and _follows_a_time(times, at, moments)):
            moments.append(moment)
        at += n_times
        used_to = times[at - 1].end
    return moments


def _follows_a_time(times: Sequence[Time], at: int, moments: Sequence[Moment]) -> bool:
    """Whether an earlier time near before it, which belongs to no moment, may be its start: "at 12 s, until 20 s"."""
    if at == 0 or times[at - 1].unit != "s" or (moments and moments[-1].stop >= times[at - 1].end):
        return False
    return times[at].begin - times[at - 1].end <= REACH and times[at - 1].value < times[at].value


def _moment_at(text: str, times: Sequence[Time], at: int, used_to: int) -> tuple[int, Moment | None]:
    """Return how many times the moment that begins at a time takes, and the moment, if there is one."""
    run = _bracketed(text, times, at)
    if len(run) > 1:
        return len(run), _of_bracket(text, run)
    first = times[at]
    before = text[max(used_to, first.begin - LABEL_REACH) : first.begin]
    label = label_of(_SENTENCE.split(before)[-1])
    if at + 1 < len(times) and times[at + 1].begin - first.end <= REACH:
        n_times, moment = _moment_of_two(text, times, at, label, before)
        if n_times:
            return n_times, moment
    return 1, _at_an_edge(text, first, before, label)


def _moment_of_two(text: str, times: Sequence[Time], at: int, label: Label, before: str) -> tuple[int, Moment | None]:
    """Return how many times a moment takes that begins at a time and ends at the next, and it; 0 if they make none."""
    first, second = times[at], times[at + 1]
    between = text[first.end : second.begin]
    start, end = (_NAMED_BEHIND.match(text, time.end) for time in (first, second))
    are_named = start is not None and end is not None and start["start"] and end["end"]
    link = "labels" if are_named else _joined(between, label, before)  # "00:12 (start) and 00:20 (end)"
    to_the_end = _TO_THE_END.match(text, first.end)
    if link == "labels" and to_the_end is not None and not to_the_end["on"]:
        link = ""  # "from 0:38 until the end, with 5 players"
    if link in ("length first", "reversed") and at + 2 < len(times) and _is_a_start(text, second, times[at + 2], first):
        link = ""  # "it lasts 8 s, it starts at 12 s and ends at 20 s"
    length = _chain(text, times, at) if link == "range" else 2
    if length > 2:
        stop, fault = times[at + length - 1].end, "a chain of times"
        chain = Moment(first.begin, stop, first.value, second.value, "s", "a range", fault)
        return length, chain if _has_unit(first, second) else None
    if link and (moment := _pair(text, first, second, link, before)) is not None:
        return 2, moment
    if between.strip() in ("before", "after", "prior to") and first.unit == second.unit == "s":
        fault = "relative to another time"
        return 2, Moment(first.begin, second.end, first.value, second.value, "s", "a time", fault)
    return 0, None


def _is_a_start(text: str, time: Time, after: Time, last: Time) -> bool:
    """Whether a time is the start of a moment with the one after it, so that it is none with the one before it."""
    before = text[max(last.end, time.begin - LABEL_REACH) : time.begin]
    between = text[time.end : after.begin]
    return len(between) <= REACH and _joined(between, label_of(before), before) in ("range", "labels")


def _chain(text: str, times: Sequence[Time], at: int) -> int:
    """Return how many times in a row something like "to" joins: two make a moment, more do not."""
    last = at + 1
    while last + 1 < len(times) and times[last + 1].begin - times[last].end <= 12:
        if _joined(text[times[last].end : times[last + 1].begin], "", "") != "range":
            break
        last += 1
    return last - at + 1


def _counts(text: str, time: Time) -> bool:
    """Whether a bare number counts what the word after it names: "2 bags"; a number with a point rarely does."""
    if time.unit or time.spelled:
        return False
    follows = _FOLLOWER.match(text, time.end)
    if follows is None or follows["word"] is None:
        return follows is not None and follows[0][1:].isalpha()  # "20-yard"
    word = follows["word"].removesuffix("'")
    if word in words.MEASURED or "." in text[time.begin : time.end]:
        return word in words.MEASURED
    joins = word in words.FOLLOWERS or word in words.RANGE or word in words.AND or word in words.LABELS
    return not joins and not (word == "of" and follows["video"])


@functools.lru_cache(maxsize=4096)
def label_of(before: str) -> Label:
    """Return the meaning of a time by the nearest label before it.

    Examples
    --------
    >>> label_of('the event starts at about '), label_of('"score": '), label_of("he has ")
    ('start', 'other', '')
    """
    if before.endswith(" with "):
        return "other"  # "the number starts with 12"
    for word in reversed(_LABEL_WORD.findall(before)):
        labels = [words.LABELS[part] for part in (word, *word.split("_")) if part in words.LABELS]
        if labels:
            return "other" if "other" in labels else labels[0]
    return ""


def _bracketed(text: str, times: Sequence[Time], at: int) -> Sequence[Time]:
    """Return the times of a list in brackets that begins at a time: all that only commas and blanks part."""
    opening = text[max(times[at].begin - 8, 0) : times[at].begin].rstrip(" \n\t\"'")[-1:]
    alone = at == 0 and not text[: times[0].begin].strip()
    if opening not in ("[", "(", "{", "<") and not alone:
        return times[at : at + 1]
    last = at
    while last + 1 < len(times) and times[last + 1].begin - times[last].end <= 8:
        between = text[times[last].end : times[last + 1].begin].strip(" \n\t\"'")
        beside = between in ("", "and") and alone and "\n" not in text[times[last].end : times[last + 1].begin]
        if between not in (",", ";") and not beside and (between or opening not in ("[", "(")):
            break
        last += 1
    closing = text[times[last].end : times[last].end + 12].lstrip(" \n\t\"'")[:1]
    closed = closing in ("]", ")", "}", ">") or (alone and closing in ("", "."))
    return times[at : last + 1] if closed else times[at : at + 1]


def _of_bracket(text: str, run: Sequence[Time]) -> Moment | None:
    first, second = run[0], run[1]
    moment = _pair(text, first, second, "bracket", "")
    if moment is None:
        return None
    if len(run) == 2 or (len(run) == 3 and not run[2].unit and 0 <= run[2].value <= 1):
        return moment._replace(stop=run[-1].end)
    return moment._replace(stop=run[-1].end, fault=f"a list of {len(run)} numbers")


@functools.lru_cache(maxsize=4096)
def _joined(between: str, label: Label, before: str) -> str:
    """Return what joins two times, given the text between them, the label of the first and the text before it.

    ``range``: a word or sign such as "to"; ``labels``: a start and an end; ``reversed``: an end and a start;
    ``length``: a start and a length; ``length first``: the other way round; "": nothing.
    """
    between = _ASIDE.sub(" ", between)
    tokens = _WORD.findall(between.replace("--", "-"))
    core = [word for word in tokens if word not in words.FILLERS] or [word for word in tokens if word in ("~", ">")][:1]
    is_range = len(tokens) <= 12 and "".join(core) in words.RANGE and not (core == ["-"] and "\n" in between)
    if is_range or (core and core[-1] in words.AND and (label == "between" or _SPAN_OF.search(before))):
        return "range"
    link = label_of(_TAG.sub(lambda tag: "" if tag[0].startswith("</") else f" {tag[1]} ", between))
    last = core[-1] if core else ""
    link_kind = ""
    from_start = label == "start" and (link == "end" or last in words.UP_TO) and not _VIDEO_IS.search(between)
    if from_start or (last == "before" and _AFTER.search(before)):
        link_kind = "labels"
    elif label == "start" and (link == "length" or last == "for") and not _VIDEO.search(between):
        link_kind = "length"
    elif label == "end" and link == "start" and len(between) <= 25 and "." not in between:
        link_kind = "reversed"
    elif link == "start" and _LASTS.search(before) and not _VIDEO.search(before):
        link_kind = "length first"
    return link_kind


def _has_unit(first: Time, second: Time) -> bool:
    return bool(first.unit or second.unit)


def _pair(text: str, first: Time, second: Time, link: str, before: str) -> Moment | None:
    """Make a moment of two times; None if two bare numbers count something else."""
    if link == "range" and not _has_unit(first, second) and not _bare_range(text, first, second, before):
        return None
    if {first.unit, second.unit} == {"s", "%"} or {first.unit, second.unit} == {"s", "frame"}:
        return None
    unit = first.unit or second.unit
    if link in ("labels", "range") and first.unit and second.fault == RELATIVE and _LATER.match(text, second.end):
        link, second = "length", second._replace(fault="")
    a, b = first.value, second.value
    if not first.unit and second.unit == "s":
        a *= second.factor
    if not second.unit and first.unit == "s":
        b *= first.factor
    if link == "reversed":
        a, b = b, a
    elif link == "length":
        b = a + b
    elif link == "length first":
        a, b = b, a + b
    fault = first.fault or second.fault
    if max(first.factor, second.factor) == 3600 and max(a, b) >= MOST_WHOLE_HOURS_S:
        fault = fault or "hours of a day, or of a very long video"
    if text[max(first.begin - 2, 0) : first.begin] in _MINUS:
        fault = NEGATIVE
    return Moment(first.begin, second.end, a, b, unit, _HOW[link], fault)


_HOW = {
    "range": "a range",
    "bracket": "a pair in brackets",
    "labels": "a start and an end",
    "reversed": "an end and a start",
    "length": "a start and a length",
    "length first": "a length and a start",
}


def _bare_range(text: str, first: Time, second: Time, before: str) -> bool:
    """Whether a range of two numbers without units can be one of times: what is around it does not count things."""
    if first.spelled or second.spelled:
        return False
    follows = _FOLLOWER.match(text, second.end)
    if follows is not None and follows["word"] is None:
        return False  # continues as "-year-old" or as a date
    if _NUMBERED.search(before):
        return False
    years = all(1900 <= time.value <= 2100 and time.value == int(time.value) for time in (first, second))
    return not years


def _at_an_edge(text: str, time: Time, before: str, label: Label) -> Moment | None:
    """Make a moment of one time and an end of the video, or of one time that is called a start or an end."""
    start = Moment(time.begin, time.end, time.value, math.inf, time.unit, "a start", time.fault, one_sided=True)
    end = start._replace(start=0.0, end=time.value, how="an end")
    ahead, behind = _TO_THE_END.match(text, time.end), _FROM_THE_START.search(before)
    bracketed = text[time.begin - 1 : time.begin] in ("[", "(")
    moment = None
    if ahead is not None and (time.unit or label in ("start", "end") or bracketed):
        moment = start._replace(stop=ahead.end(), how="a start to the end", one_sided=ahead["on"] is not None)
    elif behind is not None and time.unit and _NOT_UNTIL.search(before):
        moment = start
    elif behind is not None and time.unit:
        begin = time.begin - len(before) + behind.start()
        moment = end._replace(begin=begin, how=FIRST, one_sided=False)
    elif _BEFORE_THE_END.search(before) and time.unit:
        moment = start._replace(fault="relative to the video's end", one_sided=False)
    elif label in ("start", "end") and (time.unit or _VALUE.search(before)):
        moment = start if label == "start" else end
    return moment


def whole_video(text: str) -> Moment | None:
    """Return the moment of a text about the whole video, or None."""
    match = _WHOLE.search(text)
    if match is not None and _NEEDED.search(text, 0, match.start()) is None:
        return Moment(*match.span(), 0.0, math.inf, "", "the whole video")
    minute = re.search(r"\bfirst minute\b", text)
    return None if minute is None else Moment(*minute.span(), 0.0, 60.0, "s", FIRST)
