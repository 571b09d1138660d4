"""The moments that stand in a text: two times that something joins, a label a time, or a time and an end of the video."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from truemoment.io.answers.times import Time, Unit

REACH = 100
"""Characters between two times beyond which nothing joins them."""
LABEL_REACH = 60
"""Characters before a time beyond which no label belongs to it."""

Label = Literal["", "start", "end", "length", "between", "other"]


class Moment(NamedTuple):
    """A moment as it is told.

    Parameters
    ----------
    begin, stop
        First character it rests on, and the one behind the last.
    start, end
        As told; an infinite end is the end of the video.
    unit
        Of the numbers; bare ones count what the axis says.
    how
        What made a moment of them, in a few words.
    fault
        Why it can be read in more than one way; "" if it cannot.
    one_sided
        Whether only one end of it was told.
    """

    begin: int
    stop: int
    start: float
    end: float
    unit: Unit
    how: str
    fault: str = ""
    one_sided: bool = False


_RANGE = frozenset(
    [
        "to",
        "-",
        "--",
        "-->",
        "->",
        "=>",
        ">",
        "→",
        "~",
        "..",
        "...",
        "…",
        "until",
        "till",
        "til",
        "through",
        "thru",
        "bis",
        "到",
        "至",
        "a",
        "à",
    ]
)
_FILLERS = frozenset(
    [
        "about",
        "around",
        "approximately",
        "approx",
        "roughly",
        "circa",
        "ca",
        "just",
        "exactly",
        "nearly",
        "almost",
        "the",
        "a",
        "at",
        "t",
        "timestamp",
        "time",
        "mark",
        "second",
        "seconds",
        "sec",
        "s",
        "frame",
        "frames",
        "minute",
        "minutes",
        "point",
        "of",
        "its",
        "no",
        "number",
        "index",
        "near",
        "time_s",
        "第",
        "秒",
        "=",
        ":",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "\\",
        '"',
        "'",
        ".",
        "|",
        "<",
        ">",
        "/",
        "~",
    ]
)
_LABELS: dict[str, Label] = {
    **dict.fromkeys(["start", "starts", "started", "starting", "begin", "begins", "began", "beginning", "onset", "from", "start_time", "start_s", "t_start", "start_sec", "starttime", "von", "ab", "beginn", "beginnt", "从", "开始", "起始"], "start"),
    **dict.fromkeys(["end", "ends", "ended", "ending", "finish", "finishes", "finished", "finishing", "stop", "stops", "conclude", "concludes", "concluding", "until", "till", "end_time", "end_s", "t_end", "end_sec", "endtime", "ende", "endet", "bis", "结束"], "end"),
    **dict.fromkeys(["last", "lasts", "lasting", "lasted", "duration", "length", "long", "total", "runtime"], "length"),
    **dict.fromkeys(("between", "zwischen"), "between"),
    **dict.fromkeys(["score", "confidence", "conf", "prob", "probability", "id", "index", "qid", "video_id", "query_id", "fps", "rate", "step", "option", "question", "figure", "fig", "chapter", "page", "scene", "shot", "part", "rank", "iou", "width", "height", "version", "layer", "item", "no"], "other"),
}  # fmt: skip
_WORD = re.compile(r"[a-z_]+|\.{2,}|[^\sa-z_]")
_LETTERS = re.compile(r"[a-zà-ÿ_]+|开始|起始|结束|从")
_VALUES = re.compile(
    r'"[^"\n]{0,300}"(?=\s*[,}\]])|"[a-z0-9_ ]{1,40}"\s?:|:\s?[\d.]+(?=\s*[,}\]])|(?<=[:\s])[\d.]+(?=\s*[,}])'
)
_TAG = re.compile(r"</?([a-z_]{1,20})>")
_FOLLOWER = re.compile(
    r"\s{0,3}(?P<word>[a-z']+(?: the| this)?(?: (?:video|clip|footage|film|movie|recording|timeline))?)|-[a-z]|\s?[-/]\s?\d"
)
_FOLLOWERS = frozenset(
    [
        "in",
        "on",
        "at",
        "when",
        "where",
        "while",
        "as",
        "is",
        "are",
        "was",
        "were",
        "and",
        "or",
        "which",
        "that",
        "the",
        "during",
        "with",
        "after",
        "before",
        "by",
        "because",
        "since",
        "this",
        "it",
        "he",
        "she",
        "they",
        "there",
        "both",
        "then",
        "but",
        "out",
        "of_video",
        "marks",
        "mark",
        "range",
        "inclusive",
        "respectively",
        "so",
        "per",
        "corresponds",
        "corresponding",
        "shows",
        "matches",
        "contains",
        "represents",
        "a",
        "an",
    ]
)
_COUNTED = re.compile(r"(?:\b(?:step|option|figure|fig|chapter|page|scene|shot|part|question|item|section|room|level|person|"
                      r"player|video|clip|image|version|season|episode|score|ratio|age|aged|grade|lane|number|no)s?\.?\s?#?)\Z")  # fmt: skip
_TO_THE_END = re.compile(
    r"[\s,\"'()]{0,3}(?:mark |seconds? )?(?:(?P<end>(?:and )?(?:it )?(?:(?:goes|continues|continuing|lasts|lasting|runs|keeps|extends|"
    r"stays) )?(?:(?:on|onwards?|going|all the way|right|up) )?(?:to|until|till|through|-+|and ends? (?:at|with)|"
    r"\"?end(?:_time)?\"?:)\s?\"?(?:the )?(?:very )?end\b(?![_:\"]*\s?[:=]?\s?\d)|\"?(?:the )?end\"?(?=\s*[\])]))"
    r"|(?P<on>(?:and )?(?:onwards?\b|on\b(?=\W*$|[,.])|and after\b|to \?)))"
)
_FROM_THE_START = re.compile(
    r"(?:(?:from |at )?(?:the )?(?:very )?(?:start|beginning|outset|0)(?: of the (?:video|clip|film|footage|movie))?"
    r"\s?,?(?:to|until|till|through|up to|-+|and (?:ends?|lasts until) (?:at)?)\s?|(?:\b(?:until|till|up to|before|within the first|"
    r"during the first|in the first|the first|first)) )(?:about |around |approximately |the |roughly )?\Z"
)
_NOT_UNTIL = re.compile(r"(?:\bnot|n't|\bnever) [a-z ,]{0,40}(?:until|till|before) (?:about |around |the )?\Z")
_LAST = re.compile(r"\b(?:the )?(?:last|final)(?: about)? \Z")
_WHOLE = re.compile(
    r"\b(?:whole|entire|full|complete) (?:duration of the |length of the )?(?:video|clip|film|movie|footage|recording)\b"
    r"|\bthroughout (?:the |this )?(?:whole |entire )?(?:video|clip|film|movie|footage|recording)?"
    r"|\bvideo in its entirety\b|\b(?:from )?(?:the )?(?:start|beginning) (?:to|until|till) (?:the )?end\b|\bduring the video from start to finish\b"
)


def find_moments(text: str, times: Sequence[Time]) -> list[Moment]:
    """Find the moments of a text, in order.

    Parameters
    ----------
    text
        Written by :func:`~truemoment.io.answers.times.plain`.
    times
        Its times, in order.
    """
    found: list[Moment] = []
    at, seen = 0, 0  # next time; end of what is used up
    while at < len(times):
        taken, moment = _moment_at(text, times, at, seen)
        if moment is not None:
            found.append(moment)
        at += taken
        seen = times[at - 1].end
    return found


def _moment_at(text: str, times: Sequence[Time], at: int, seen: int) -> tuple[int, Moment | None]:
    """Return how many times the moment that begins at a time takes, and the moment, if there is one."""
    run = _bracketed(text, times, at)
    if len(run) > 1:
        return len(run), _of_bracket(text, run)
    first = times[at]
    before = text[max(seen, first.begin - LABEL_REACH) : first.begin]
    label = label_of(before)
    if at + 1 < len(times) and times[at + 1].begin - first.end <= REACH:
        second = times[at + 1]
        how = _joined(text[first.end : second.begin], label, before)
        length = _chain(text, times, at) if how == "range" else 2
        if length > 2:
            stop, fault = times[at + length - 1].end, "a chain of times"
            chain = Moment(first.begin, stop, first.value, second.value, "s", "a range", fault)
            return length, chain if _has_unit(first, second) else None
        if how and (moment := _pair(text, first, second, how, before)) is not None:
            return 2, moment
    return 1, _at_an_edge(text, first, before, label)


def _chain(text: str, times: Sequence[Time], at: int) -> int:
    """Return how many times in a row something like "to" joins: two make a moment, more do not."""
    last = at + 1
    while last + 1 < len(times) and times[last + 1].begin - times[last].end <= 12:
        if _joined(text[times[last].end : times[last + 1].begin], "", "") != "range":
            break
        last += 1
    return last - at + 1


def label_of(before: str) -> Label:
    """Return what the nearest label in the text before a time says it is.

    Examples
    --------
    >>> label_of('the event starts at about '), label_of('"score": '), label_of("he has ")
    ('start', 'other', '')
    """
    for word in reversed(_LETTERS.findall(before)):
        label = _LABELS.get(word) or _LABELS.get(word.partition("_")[0])
        if label is not None:
            return label
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
        if between not in (",", ";", ""):
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


def _joined(between: str, label: Label, before: str) -> str:
    """Say what joins two times, given the text between them and the label of the first; "" for nothing.

    ``range``: a word or sign such as "to"; ``labels``: a start and an end; ``length``: a start and how long it lasts.
    """
    if len(between) <= 12 and ("到" in between or "至" in between):
        return "range"
    words = _WORD.findall(between.replace("--", "-"))
    core = [word for word in words if word not in _FILLERS] or [word for word in words if word in ("~", ">")][:1]
    signs = "".join(core)
    if len(words) <= 12 and (signs in _RANGE or signs in ("upto", "uptil")):
        return "" if signs == "-" and "\n" in between else "range"
    said = label_of(_TAG.sub(lambda tag: "" if tag[0].startswith("</") else f" {tag[1]} ", between))
    if label == "between" and core[-1:] and core[-1] in ("and", "und", "et", "y"):
        return "range"
    if label == "start" and (said == "end" or (core[-1:] and core[-1] in ("to", "until", "till", "through"))):
        return "labels"
    if label == "start" and (said == "length" or core[-1:] == ["for"]):
        return "length"
    if label == "end" and said == "start" and len(between) <= 25 and "." not in between:
        return "reversed"
    if (label == "length" or before.rstrip(" about").endswith("for")) and said == "start":
        return "length first"
    return ""


def _has_unit(first: Time, second: Time) -> bool:
    return bool(first.unit or second.unit)


def _pair(text: str, first: Time, second: Time, how: str, before: str) -> Moment | None:
    """Make a moment of two times; None if two bare numbers count something else."""
    if how == "range" and not _has_unit(first, second) and not _bare_range(text, first, second, before):
        return None
    if {first.unit, second.unit} == {"s", "%"} or {first.unit, second.unit} == {"s", "frame"}:
        return None
    unit = first.unit or second.unit
    a, b = first.value, second.value
    if not first.unit and second.unit == "s":
        a *= second.factor
    if not second.unit and first.unit == "s":
        b *= first.factor
    if how == "reversed":
        a, b = b, a
    elif how == "length":
        b = a + b
    elif how == "length first":
        a, b = b, a + b
    fault = first.fault or second.fault
    if _is_negative(text, first.begin):
        fault = "a negative time"
    return Moment(first.begin, second.end, a, b, unit, _HOW[how], fault)


_HOW = {
    "range": "a range",
    "bracket": "a pair in brackets",
    "labels": "a start and an end",
    "reversed": "an end and a start",
    "length": "a start and a length",
    "length first": "a length and a start",
}


def _is_negative(text: str, begin: int) -> bool:
    """Whether a minus stands right before a number that nothing before it could make a dash of."""
    if text[max(begin - 1, 0) : begin] != "-":
        return False
    before = text[max(begin - 2, 0) : begin - 1]
    return before in ("", " ", "[", "(", "=", ":", ",")


def _bare_range(text: str, first: Time, second: Time, before: str) -> bool:
    """Whether a range of two numbers without units can be one of times: what stands around it does not count things."""
    if first.spelled or second.spelled:
        return False
    follows = _FOLLOWER.match(text, second.end)
    if follows is not None:
        word = (follows["word"] or "").removesuffix("'")
        if word.startswith("of ") and word.split()[-1] in (
            "video",
            "clip",
            "footage",
            "film",
            "movie",
            "recording",
            "timeline",
        ):
            word = "of_video"
        if word.split(" ")[0] not in _FOLLOWERS:
            return False
    if _COUNTED.search(before):
        return False
    years = all(1900 <= time.value <= 2100 and time.value == int(time.value) for time in (first, second))
    return not years or (bool(before.strip()) and label_of(before) in ("start", "between"))


def _at_an_edge(text: str, time: Time, before: str, label: Label) -> Moment | None:
    """Make a moment of one time and an end of the video, or of one time that is called a start or an end."""
    unit, begin, stop = time.unit, time.begin, time.end
    ahead = _TO_THE_END.match(text, time.end)
    told = bool(unit or label in ("start", "end") or text[max(begin - 1, 0) : begin] in ("[", "("))
    if ahead is not None and told:
        sided = ahead["end"] is None
        return Moment(begin, ahead.end(), time.value, math.inf, unit, "a start to the end", time.fault, one_sided=sided)
    behind = _FROM_THE_START.search(before)
    if behind is not None and unit and _NOT_UNTIL.search(before):
        return Moment(begin, stop, time.value, math.inf, unit, "a start", time.fault, one_sided=True)
    if behind is not None and unit:
        return Moment(
            begin - len(before) + behind.start(), stop, 0.0, time.value, unit, "the start to an end", time.fault
        )
    if _LAST.search(before) and unit:
        return Moment(begin, stop, time.value, math.inf, unit, "a length before the end", "told from the video's end")
    if label == "start" and (unit or _is_value(before)):
        return Moment(begin, stop, time.value, math.inf, unit, "a start", time.fault, one_sided=True)
    if label == "end" and (unit or _is_value(before)):
        return Moment(begin, stop, 0.0, time.value, unit, "an end", time.fault, one_sided=True)
    return None


def _is_value(before: str) -> bool:
    """Whether a label stands right before a number, as in "start: 12", so that it needs no unit."""
    return bool(re.search(r"[a-z_][\"'>]?\s?(?:[:=>]|time[:=]?|at|from)\s?[\"']?\Z|<[a-z_]{1,20}>\Z", before))


def whole_video(text: str) -> Moment | None:
    """Return the moment of a text that speaks of the whole video, if it does."""
    found = _WHOLE.search(text)
    if found is not None:
        return Moment(*found.span(), 0.0, math.inf, "", "the whole video")
    minute = re.search(r"\bfirst minute\b", text)
    return None if minute is None else Moment(*minute.span(), 0.0, 60.0, "s", "the start to an end")


_CONNECTING = frozenset(
    [
        "and",
        "then",
        "also",
        "again",
        "plus",
        "as",
        "well",
        "followed",
        "by",
        "another",
        "from",
        "between",
        "at",
        "around",
        "about",
        "moment",
        "moments",
        "segment",
        "segments",
        "event",
        "events",
        "interval",
        "intervals",
        "occurrence",
        "occurrences",
        "instance",
        "instances",
        "clip",
        "clips",
        "time",
        "times",
        "timestamp",
        "timestamps",
        "first",
        "second",
        "third",
        "fourth",
        "finally",
        "later",
        "seconds",
        "sec",
        "secs",
        "s",
        "start",
        "starts",
        "end",
        "ends",
        "to",
        "the",
        "in",
        "video",
        "of",
        "is",
        "it",
        "query",
        "period",
        "periods",
        "or",
        "either",
        "answer",
        "span",
        "spans",
        "window",
        "windows",
        "range",
        "ranges",
        "once",
        "more",
        "next",
        "和",
        "以及",
        "、",
        "。",
        ",",
        ";",
        "&",
        "|",
        "/",
        "[",
        "]",
        "{",
        "}",
        "(",
        ")",
        "<",
        ">",
        ":",
        "-",
        "•",
        "=",
        "#",
        '"',
        "'",
        "+",
        "第",
    ]
)
_SENTENCE_END = re.compile(r"[.!?](?:\s|$)")
_BULLET = re.compile(
    r"(?:^|(?<=\n))[ \t]{0,4}(?:\(?\d{1,2}[.):]|[-•])[ \t]{0,4}|\(\d{1,2}\)|(?<=[\s,;])\d{1,2}[.)](?=\s)"
)
_NUMBERED = re.compile(
    r"\b(moment|segment|event|interval|occurrence|instance|clip|time|span|window|range) ?#?\d{1,2}\b"
)


def group(text: str, moments: Sequence[Moment]) -> list[list[Moment]]:
    """Put moments that only connecting words part into one list: they are one answer, told together."""
    groups: list[list[Moment]] = [[moment] for moment in moments[:1]]
    for last, moment in pairwise(moments):
        between = text[last.stop : moment.begin]
        if _connects(between):
            if not _is_repeated(last, moment, between):
                groups[-1].append(moment)
            else:
                groups[-1][-1] = last._replace(stop=moment.stop)
        else:
            groups.append([moment])
    return groups


def _is_repeated(last: Moment, moment: Moment, between: str) -> bool:
    """Whether a moment is the last one told again in brackets: "12.3 to 20.5 s (0:12 - 0:20)"."""
    near = abs(last.start - moment.start) < 1 and abs(last.end - moment.end) < 1
    return near and bool(re.search(r"[(\[=]|\bor\b|i\.e", between))


def _connects(between: str) -> bool:
    if len(between) > 4 * REACH:
        return False
    if "}" in between or '"' in between:
        between = _VALUES.sub(" ", between)
    between = _NUMBERED.sub(r"\1", _BULLET.sub(" ", _TAG.sub(" ", between)))
    if _SENTENCE_END.search(between.rstrip()) and between.strip(" \n") != ".":
        between = between if "\n" in between else f"{between} never"
    words = _WORD.findall(between.replace(".", " ") if "\n" in between else between)
    return all(word in _CONNECTING for word in words)


def alternatives(text: str, moments: Sequence[Moment]) -> bool:
    """Whether "or" parts two moments."""
    return any(
        re.fullmatch(r"\W{0,4}(?:or|either|maybe|possibly)\b[\w ]{0,30}", text[a.stop : b.begin].strip(" ,"))
        for a, b in pairwise(moments)
    )
