"""Answers in words: 100,000 of them, and a megabyte of one, beside the straightforward way.

The straightforward way is what parsers in circulation do: the first two numbers of the text are the moment. It is quick
and often wrong; both are counted in the same run, on answers whose moments are known.

Run: python benchmarks/answers.py
"""

from __future__ import annotations

import json
import random
import re
import resource
import time
from collections.abc import Callable
from pathlib import Path

from truemoment.data.answers import parse_answer

N_ANSWERS = 100_000
NUMBER = re.compile(r"\d+(?:\.\d+)?")
STYLES = (
    "The given query happens in {a:.1f} - {b:.1f} seconds.",
    "From {a:.1f}s to {b:.1f}s.",
    '{{"start_time": "{a:.1f}", "end_time": "{b:.1f}"}}',
    "The event starts at {clock_a} and ends at {clock_b}, when the person closes the door and walks away.",
    "<think>First a man enters with 2 bags. Around {c:.0f} to {d:.0f} seconds he sits down, which does not match; what "
    "is asked comes later, after he has stood up again.</think>\n<answer>{a:.1f} to {b:.1f}</answer>",
    "The 2 people laugh between {a:.1f} and {b:.1f} seconds.",
)
SILENT = ("The event does not occur in the video.", "I'm sorry, but I can't watch videos.", "2 bags at the start")
IN_CIRCULATION = Path(__file__).parents[1] / "tests/answers/in_circulation.jsonl"
NASTY = ("12 ", "1:", "1,", "12-", "[12, ", "12s and ", "<think>", "does not ", '{"start":', "9", "[", "\n")


Moments = tuple[tuple[float, float], ...]


def invented(rng: random.Random) -> tuple[str, Moments]:
    """Return an answer and the moments it tells."""
    if rng.random() < 0.1:
        return rng.choice(SILENT), ()
    a = rng.uniform(0, 300)
    b = a + rng.uniform(1, 60)
    style = rng.choice(STYLES)
    clocks = [f"{int(t) // 60:02d}:{t % 60:04.1f}" for t in (round(a, 1), round(b, 1))]
    text = style.format(a=a, b=b, c=a / 2, d=a / 2 + 3, clock_a=clocks[0], clock_b=clocks[1])
    return text, ((round(a, 1), round(b, 1)),)


def accuracy(read: Callable[[str], Moments]) -> str:
    """Return recall and precision of a reader on the answers of the tests."""
    lines = [json.loads(line) for line in IN_CIRCULATION.read_text("utf-8").splitlines()]
    expected = [
        () if isinstance(line["expected"], str) else tuple((float(a), float(b)) for a, b in line["expected"])
        for line in lines
    ]
    found = [read(line["answer"]) for line in lines]
    right = sum(are_same(one, other) for one, other in zip(found, expected, strict=True) if other)
    n_read, n_moments = sum(map(bool, found)), sum(map(bool, expected))
    share = f"recall {100 * right / n_moments:.1f} %, precision {100 * right / n_read:.1f} %"
    return f"{len(lines):,} answers of the tests, {n_moments:,} with moments: {share}"


def straightforward(text: str) -> Moments:
    """Take the first two numbers."""
    numbers = [float(number) for number in NUMBER.findall(text)[:2]]
    return ((numbers[0], numbers[1]),) if len(numbers) == 2 else ()


def are_same(some: Moments, others: Moments) -> bool:
    """Whether moments are equal, but for the last digits of a sum of minutes and seconds."""
    pairs = zip(some, others)  # noqa: B905 - their lengths are compared
    return len(some) == len(others) and all(
        x == y or abs(x - y) < 1e-6 for moment, other in pairs for x, y in zip(moment, other, strict=True)
    )


def main() -> None:
    """Print times, shares read right, and the peak of memory."""
    rng = random.Random(0)  # noqa: S311 - a benchmark keeps no secrets
    texts, moments = zip(*(invented(rng) for _ in range(N_ANSWERS)), strict=True)
    for name, read in (("this reader", lambda text: parse_answer(text).moments), ("two numbers", straightforward)):
        began = time.process_time()
        found = [read(text) for text in texts]
        took_s = time.process_time() - began
        right = sum(map(are_same, found, moments))
        print(f"{name}: {N_ANSWERS:,} answers in {took_s:.2f} s on one core, {100 * right / N_ANSWERS:.1f} % right")
        print(f"{name}: {accuracy(read)}")
    for pattern in NASTY:
        text = pattern * (1_000_000 // len(pattern))
        began = time.process_time()
        answer = parse_answer(text)
        print(f"1 MB of {pattern!r}: {time.process_time() - began:.3f} s, {answer.status}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB")


if __name__ == "__main__":
    main()
