"""Answers in the forms of public reports that were not read, and their neighbours.

Each expected moment is what a careful person reads; the sentences are invented.
"""

import pytest

from truemoment.data.answers import parse_answer

MOMENTS = {
    "12초부터 20초까지입니다.": (12, 20),
    "1분 5초부터 1분 20초까지": (65, 80),
    "12초에서 20초 사이": (12, 20),
    "12秒から20秒まで": (12, 20),
    "Desde el segundo 12 hasta el segundo 20.": (12, 20),
    "Del segundo 12 al segundo 20.": (12, 20),
    "Von Sekunde 12 bis Sekunde 20.": (12, 20),
    "De la seconde 12 à la seconde 20.": (12, 20),
    "من الثانية ١٢ إلى الثانية ٢٠": (12, 20),
    "من ١٢٫٥ إلى ٢٠ ثانية": (12.5, 20),
    r"The answer is $12\text{s} - 20\text{s}$.": (12, 20),
    r"The answer is $12\\text{s} - 20\\text{s}$.": (12, 20),
    r"\boxed{12.0 \text{ to } 20.0}": (12, 20),
    r"$\text{start} = 12\,\text{s}, \text{end} = 20\,\text{s}$": (12, 20),
    r"\(12\text{ s to }20\text{ s}\)": (12, 20),
    '{"start_ms": 12000, "end_ms": 20000}': (12, 20),
    "In the span of 12.0 and 20.0 seconds.": (12, 20),
    "In the interval of 12 and 20 seconds.": (12, 20),
    "So the time range would be from 27.5s to, say, 35s.": (27.5, 35),
    "from 12s to maybe 20s": (12, 20),
    "from 12 to, let's say, 20 seconds": (12, 20),
}
UNREAD = {
    "12초": "ambiguous",
    "12초 동안": "ambiguous",
    '{"start_ms": 12000}': "ambiguous",
    "A span of 12 seconds and 20 bags.": "ambiguous",
    "two spans of 12 and 20 seconds": "ambiguous",  # two lengths
    "a range of 2 and 3 dogs": "failed",
    "It costs $12 to $20.": "failed",
    "I say 12 and he says 20": "failed",
    "El hombre tiene 12 años hasta 20": "failed",
}


@pytest.mark.parametrize("text", MOMENTS)
def test_read(text):
    answer = parse_answer(text)
    assert (answer.status, answer.moments) == ("parsed", (pytest.approx(MOMENTS[text]),)), answer.why
    begin, end = answer.span
    assert 0 <= begin < end <= len(text)


@pytest.mark.parametrize("text", UNREAD)
def test_not_read(text):
    assert parse_answer(text).status == UNREAD[text]
