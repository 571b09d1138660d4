"""An interval written in any of many styles is read back as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truemoment.data.answers import Reading, parse_answer

pytestmark = pytest.mark.slow


LONGEST_S = 36_000
# fmt: off
WORDS = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]
TENS = ["zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
# fmt: on


# ---- one time; each takes whole ticks and gives text that tells them exactly


def tenths(ticks: int) -> str:
    return f"{ticks // 10}.{ticks % 10}"


def hundredths(ticks: int) -> str:
    return f"{ticks // 100}.{ticks % 100:02d}"


def tenths_with_a_comma(ticks: int) -> str:
    return tenths(ticks).replace(".", ",")


def mm_ss(ticks: int) -> str:
    return f"{ticks // 60:02d}:{ticks % 60:02d}"


def m_ss(ticks: int) -> str:
    return f"{ticks // 60}:{ticks % 60:02d}"


def mm_ss_hundredths(ticks: int) -> str:
    return f"{mm_ss(ticks // 100)}.{ticks % 100:02d}"


def h_mm_ss(ticks: int) -> str:
    return f"{ticks // 3600}:{mm_ss(ticks % 3600)}"


def hh_mm_ss_thousandths(ticks: int) -> str:
    return f"{ticks // 3_600_000:02d}:{mm_ss(ticks // 1000 % 3600)}.{ticks % 1000:03d}"


def subtitle(ticks: int) -> str:
    return hh_mm_ss_thousandths(ticks).replace(".", ",")


def minutes_seconds(ticks: int) -> str:
    return f"{ticks // 60} minutes {ticks % 60} seconds"


def minutes_and_seconds(ticks: int) -> str:
    return f"{ticks // 60} min and {ticks % 60} s"


def m_s(ticks: int) -> str:
    return f"{ticks // 60}m{ticks % 60}s"


def h_m_s(ticks: int) -> str:
    return f"{ticks // 3600}h{ticks // 60 % 60}m{ticks % 60}s"


def chinese(ticks: int) -> str:
    return f"{ticks // 60}分{ticks % 60}秒"


def in_words(ticks: int) -> str:
    if ticks < 20:
        return WORDS[ticks]
    return TENS[ticks // 10] + (f"-{WORDS[ticks % 10]}" if ticks % 10 else "")


def ordinal(ticks: int) -> str:
    ending = "th" if ticks // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(ticks % 10, "th")
    return f"{ticks}{ending}"


@dataclass(frozen=True)
class Style:
    """How a start and an end are told: ticks of `tick_s` seconds, a template with {a} and {b}, the text of one time."""

    template: str
    time: Callable[[int], str]
    tick_s: float
    longest_s: int = LONGEST_S

    def tell(self, start: int, end: int) -> str:
        a, b = self.time(start), self.time(end)
        return self.template.replace("{a}", a).replace("{b}", b).replace("{length}", self.time(end - start))


STYLES = [
    Style("{a} - {b}", tenths, 0.1),
    Style("{a}-{b}", hundredths, 0.01),
    Style("{a}–{b} s", tenths, 0.1),
    Style("{a} — {b} seconds", tenths, 0.1),
    Style("{a} to {b}", hundredths, 0.01),
    Style("{a}s to {b}s", hundredths, 0.01),
    Style("{a}s~{b}s", tenths, 0.1),
    Style("from {a} to {b} seconds", tenths, 0.1),
    Style("From {a} seconds to {b} seconds.", str, 1),
    Style("The given query happens in {a} - {b} seconds.", tenths, 0.1),
    Style("It happens between {a} and {b} seconds of the video.", tenths, 0.1),
    Style("between {a}s and {b}s, while the dog sleeps.", str, 1),
    Style("{a} seconds until {b} seconds", tenths, 0.1),
    Style("{a}s -> {b}s", tenths, 0.1),
    Style("from the {a}-second mark to the {b}-second mark", str, 1),
    Style("It lasts from the {a} second to the {b} second.", ordinal, 1),
    Style("{a} - {b}", mm_ss, 1),
    Style("From {a} to {b}.", m_ss, 1),
    Style("{a} - {b}", mm_ss_hundredths, 0.01),
    Style("[{a}, {b}]", mm_ss, 1),
    Style("between {a} and {b}", h_mm_ss, 1),
    Style("{a} --> {b}", subtitle, 0.001),
    Style("{a} --> {b}", hh_mm_ss_thousandths, 0.001),
    Style("from {a} to {b}", minutes_seconds, 1),
    Style("from {a} until {b}", minutes_and_seconds, 1),
    Style("{a}-{b}", m_s, 1),
    Style("{a} to {b}", h_m_s, 1),
    Style("from {a} to {b} minutes", hundredths, 0.6),
    Style("{a} ms to {b} ms", str, 0.001),
    Style("from {a} to {b} seconds", in_words, 1, 99),
    Style("[{a}, {b}]", tenths, 0.1),
    Style("[[{a}, {b}]]", hundredths, 0.01),
    Style("({a}, {b})", tenths, 0.1),
    Style("[{a}, {b}, 0.87]", tenths, 0.1),
    Style('{"start": {a}, "end": {b}}', hundredths, 0.01),
    Style('{"start_time": "{a}", "end_time": "{b}"}', mm_ss_hundredths, 0.01),
    Style('```json\n[{"start": {a}, "end": {b}, "label": "2 dogs"}]\n```', tenths, 0.1),
    Style('{"timestamps": [[{a}, {b}]]}', hundredths, 0.01),
    Style('{"segment": "{a}-{b}"}', tenths, 0.1),
    Style("<answer>{a} to {b}</answer>", hundredths, 0.01),
    Style("<time>{a} - {b} seconds</time>", tenths, 0.1),
    Style("<start>{a}</start><end>{b}</end>", tenths, 0.1),
    Style("\\boxed{{a} - {b}}", tenths, 0.1),
    Style("Start time: {a}\nEnd time: {b}", tenths, 0.1),
    Style("start: {a}, end: {b}", hundredths, 0.01),
    Style("It starts at {a} and ends at {b}.", mm_ss, 1),
    Style("The action begins at {a} seconds and ends at {b} seconds.", tenths, 0.1),
    Style("It ends at {b} s and starts at {a} s.", tenths, 0.1),
    Style("It starts at {a} s and lasts {length} seconds.", tenths, 0.1),
    Style("for {length} seconds starting at {a} s", tenths, 0.1),
    Style("He picks it up at {a}s and leaves at {b}s.", tenths, 0.1),
    Style("**{a}** to **{b}** seconds", tenths, 0.1),
    Style("Final answer: {a}s - {b}s", tenths, 0.1),
    Style("von {a} bis {b} Sekunden", tenths_with_a_comma, 0.1),
    Style("从{a}秒到{b}秒", tenths, 0.1),
    Style("{a}至{b}", chinese, 1),
    Style("{a} s\u00a0– {b} s", tenths, 0.1),
]

# Sentences before an answer that tell no time.
BEFORE = [
    "",
    "A man carries 2 bags. ",
    "Sure! ",
    "In this 1080p clip at 30 fps, 2 to 3 people dance. ",
    "<think>From 1 to 2 s he only sits; is it at 7 s?</think>\n",
    "The event does not happen at once.\n",
    "1. ",
]

# How one of several intervals is told, and what joins them, first and last.
LISTS = [
    ("{a} - {b} s", ", ", "", ""),
    ("{a}s to {b}s", " and ", "", "."),
    ("{a}-{b}", "; ", "", ""),
    ("from {a} to {b} seconds", ", then ", "It happens ", "."),
    ("{a}s - {b}s", "\n- ", "- ", "\n"),
    ("[{a}, {b}]", ", ", "[", "]"),
    ("({a}, {b})", " and ", "", ""),
    ('{"start": {a}, "end": {b}}', ", ", "[", "]"),
    ("[{a}, {b}]", ",", '{"timestamps": [', "]}"),
    ("<time>{a} - {b} seconds</time>", " ", "", ""),
    ("{a}到{b}秒", "，", "", "。"),
]


def ticks_of(style):
    top = round(style.longest_s / style.tick_s)
    return st.tuples(st.integers(0, top), st.integers(0, top)).filter(lambda t: t[0] < t[1])


def seconds(ticks, tick_s):
    return tuple(tick * tick_s for tick in ticks)


@pytest.mark.parametrize("style", STYLES, ids=[f"{style.template} {style.time.__name__}" for style in STYLES])
@settings(max_examples=settings.default.max_examples // 2)  # of each of so many styles
@given(data=st.data())
def test_an_interval_is_read_back(style, data):
    ticks = data.draw(ticks_of(style))
    text = data.draw(st.sampled_from(BEFORE)) + style.tell(*ticks)
    answer = parse_answer(text)
    assert answer.status == "parsed", (text, answer.why)
    # 1e-6 s is far below every style's tick; what is left is the rounding of ticks to floats.
    assert list(answer.moments) == [pytest.approx(seconds(ticks, style.tick_s), rel=0, abs=1e-6)], text


@pytest.mark.parametrize("form", LISTS, ids=[json.dumps(form) for form in LISTS])
@given(data=st.data())
def test_several_intervals_are_read_back_in_their_order(form, data):
    template, between, first, last = form
    style = Style(template, tenths, 0.1)
    told = data.draw(st.lists(ticks_of(style), min_size=1, max_size=4, unique=True))
    body = between.join(style.tell(*ticks) for ticks in told)
    # "1. " is a bullet itself, and some lists have theirs.
    text = data.draw(st.sampled_from([before for before in BEFORE if before != "1. "])) + first + body + last
    answer = parse_answer(text)
    assert answer.status == "parsed", (text, answer.why)
    expected = [pytest.approx(seconds(ticks, 0.1), rel=0, abs=1e-6) for ticks in told]
    assert list(answer.moments) == expected, text


@pytest.mark.parametrize(
    ("axis", "template"),
    [
        ("fraction", "from {a} to {b}"),
        ("percent", "{a}% to {b}%"),
        ("percent", "[{a}, {b}]"),
        ("bins=100", "from {a} to {b}"),
        ("bins=100", "[[{a}, {b}]]"),
        ("frames=100", "frames {a} to {b}"),
        ("fps=25", "from frame {a} to frame {b}"),
    ],
)
@given(ticks=st.tuples(st.integers(0, 99), st.integers(0, 99)).filter(lambda t: t[0] < t[1]))
def test_bare_numbers_stay_on_their_axis(axis, template, ticks):
    a, b = (t / 100 if axis == "fraction" else t for t in ticks)
    answer = parse_answer(template.replace("{a}", str(a)).replace("{b}", str(b)), reading=Reading(axis=axis))
    assert (answer.status, answer.moments) == ("parsed", ((a, b),)), answer.why


@given(ticks=st.tuples(st.integers(0, 9999), st.integers(0, 9999)).filter(lambda t: t[0] < t[1]))
def test_a_swapped_interval_is_read_as_the_option_says(ticks):
    start, end = (t / 10 for t in ticks)
    text = f"from {end}s to {start}s"
    assert parse_answer(text).status == "ambiguous"
    assert parse_answer(text, reading=Reading(swapped="keep")).moments == ((end, start),)
    assert parse_answer(text, reading=Reading(swapped="sort")).moments == ((start, end),)
