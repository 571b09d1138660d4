"""Audits for the tests of reports: the example world with an invented train split, a hostile world, a bare one."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from truemoment import Annotations, Predictions, get_protocol, parse_measures, read_annotations, read_predictions
from truemoment.base.boundary.caching import Cache
from truemoment.data.language import get_engine
from truemoment.studies.audit import Audit, AuditSetup, Controls, Splits, audit, read_gate
from truemoment.studies.bias.surveys import Survey, survey
from truemoment.worlds import make_world

sys.path.insert(0, str(Path(__file__).parent))  # tests of pages share page_reader

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SOURCE = {"path": "examples/predictions.jsonl", "sha256": "ab" * 32}

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "\u202eright to left\u202c \u200f",
    "x" * 5000,
    "a\x00b\x1b[31mred\x07\r\nnext",
    "日本語の文 ✂ 👩‍👩‍👧",
    "שלום a door",
    "\ud800 half a character",
    "{{ 7 * 7 }}{% raw %}",
    "</style></title><b>",
    r"$\frac{1}{2}$ & _under_ | pipe",
    "--> ]]> &lt;",
)


def audited(
    annotations: Annotations,
    predictions: Predictions,
    measures: str,
    *,
    gate: str = "",
    sources: Mapping[str, object] = SOURCE,
    **more: object,
) -> Audit:
    """Audit with few draws, which is quick and enough to look at."""
    settings = {"resamples": 200, "permutations": 100, "cache": Cache.of_user()} | more
    setup = AuditSetup(annotations, predictions, parse_measures(measures), get_protocol("default"), **settings)
    return audit(setup, seed=0, conditions=read_gate(gate) if gate else (), sources=sources)


def renamed(annotations: Annotations, split: str, *, stretched: float) -> Annotations:
    """The same queries about other videos, their moments moved towards the beginning."""
    rows = zip(
        annotations.query_id,
        annotations.video_id,
        annotations.duration_s,
        annotations.sentence,
        annotations.start_s * stretched,
        annotations.end_s * stretched,
        strict=True,
    )
    return Annotations.from_rows([(f"{split}/{q}", f"{split}/{v}", *rest) for q, v, *rest in rows], split=split)


@pytest.fixture(scope="session")
def source() -> dict[str, str]:
    """Give the files that an audit of the example was read from."""
    return SOURCE


@pytest.fixture(scope="session")
def example() -> Audit:
    """Give the audit of the example files, with everything an audit may be given."""
    annotations = read_annotations(EXAMPLES / "annotations.jsonl")
    predictions, match = read_predictions(EXAMPLES / "predictions.jsonl", annotations)
    first = np.arange(annotations.n_queries) < 40  # some sentences stand in train, others do not
    train = renamed(annotations.select_queries(first), "train", stretched=0.8)
    val = renamed(annotations, "val", stretched=0.9)
    reversed_answers = Predictions(
        predictions.query_id, predictions.offsets, predictions.start_s[::-1], predictions.end_s[::-1], predictions.score
    )
    return audited(
        annotations,
        predictions,
        "R@1,IoU=0.5; R@5,IoU=0.5; dR@1,IoU=0.5; mIoU; AxIoU@10; R@1,IoU=0.5,length=long",
        match=match,
        splits=Splits(train=train, validation=val, others=(train, val)),
        iid=(annotations, predictions),
        controls=Controls(shuffled=reversed_answers),
        gate="mIoU>=0.99; mIoU>=0",
    )


@pytest.fixture(scope="session")
def hostile() -> Audit:
    """Give the audit of a world whose every name is out to break the page, and whose times are faulty."""
    rng = np.random.default_rng(0)
    rows, answers = [], {}
    for number in range(60):
        text = HOSTILE[number % len(HOSTILE)]
        start = float(rng.uniform(0, 20))
        end = start - 3 if number % 9 == 0 else start + float(rng.uniform(1, 20))
        duration = 1e-3 if number == 0 else 30.0
        rows.append((f"{text}#{number}", f"{text}/{number // 2}", duration, text, start, end))
        past = 9e7 if number % 7 == 0 else 0.0
        moments = [(start * 0.9, abs(end) * 1.1 + past, 1.0), (0.0, 0.0, 0.5), (9.0, 3.0, 0.4), (start, start + 5, 0.1)]
        answers[f"{text}#{number}"] = moments[: number % 5]
    annotations = Annotations.from_rows(rows, dataset="<i>data</i>", split='te"st\u202e')
    train = dataclasses.replace(annotations, split='tr"ain<i>\u202e', duration_s=annotations.duration_s * 1.01)
    predictions = Predictions.from_lists(answers, name=r"<b>na$\me$</b> 日本 " + "\u202e" + "y" * 300)
    return audited(
        annotations,
        predictions,
        "R@1,IoU=0.5; mIoU",
        splits=Splits(train=train, others=(train,)),
        controls=Controls(shuffled=predictions),
        sources={"path": "<script>\u202e\ud800" + "z" * 900, "sha256": "<b>"},
    )


@pytest.fixture(scope="session")
def in_words(tmp_path_factory: pytest.TempPathFactory) -> Audit:
    """Give the audit of answers in words, a third of them hostile, with queries without a moment and without frames."""
    rows, texts = [], []
    for number in range(36):
        start = 0.5 * number + 0.25
        nothing = number >= 30
        times = (float("nan"), float("nan")) if nothing else (start, start + 10)
        rows.append((f"v{number // 2}#{number}", f"v{number // 2}", 40.0, "a door opens", *times))
        words = "It never happens." if nothing else f"from {start} to {start + 10.1} s"
        # No JSON file can hold half a character, and two numbers might be read as a moment.
        hostile_text = HOSTILE[number // 3].replace("\ud800", "").replace("7 * 7", "'ab' * 3")
        texts.append(hostile_text if number % 3 == 0 else words)
    annotations = Annotations.from_rows(rows, split="test")
    path = tmp_path_factory.mktemp("words") / "answers.jsonl"
    lines = zip(annotations.queries.query_id, texts, strict=True)
    path.write_text("".join(json.dumps({"query_id": q, "answer": text}) + "\n" for q, text in lines), encoding="utf-8")
    answers, match = read_predictions(path, annotations)
    silent = Predictions.from_lists({row[0]: [(0.0, 12.0)] if row[0] < "v5" else [] for row in rows}, name="no frames")
    train = renamed(annotations.with_moments(), "train", stretched=0.5)
    return audited(
        annotations,
        answers,
        "R@1,IoU=0.5; mIoU",
        match=match,
        splits=Splits(train=train),
        controls=Controls(text_only=silent, shuffled=answers),
        sources={**SOURCE, "beside": {"text-only": {"path": "floor.jsonl", "sha256": "cd" * 32}}},
    )


@pytest.fixture(scope="session")
def whole() -> Audit:
    """Give an audit without a training split, in which PredictAll is the strongest floor; it hits nine of ten."""
    rows = [(f"v{n}#0", f"v{n}", 30.0, "a door opens", 0.0, 30.0 if n < 9 else 8.0) for n in range(10)]
    answers = {query_id: [(0.0, end)] for query_id, _, _, _, _, end in rows}
    return audited(Annotations.from_rows(rows), Predictions.from_lists(answers), "R@1,IoU=0.5; mIoU")


@pytest.fixture(scope="session")
def bare() -> Audit:
    """Give the audit of two queries of one video, of which one is answered: little is defined."""
    annotations = Annotations.from_rows(
        [("v#0", "v", 30.0, "a door opens", 2.0, 6.0), ("v#1", "v", 30.0, "b", 2.0, 6.0)]
    )
    answers = Predictions.from_lists({"v#0": [(20.0, 26.0)]})
    return audited(annotations, answers, "R@1,IoU=0.5; R@1,IoU=0.5,length=long")


def surveyed(splits: dict[str, Annotations], title: str) -> Survey:
    """Survey with few draws, which is quick and enough to look at."""
    return survey(splits, np.random.default_rng(0), get_engine(), title=title, permutations=20, draws=20)


@pytest.fixture(scope="session")
def world_survey() -> Survey:
    """Give the survey of a built-in world whose moments and verbs give places away."""
    return surveyed(make_world(150, location_prior=0.8, query_prior=0.8, seed=3).splits, "The world")


@pytest.fixture(scope="session")
def hostile_survey() -> Survey:
    """Give the survey of annotations whose every name is out to break the page, in nine splits, times faulty."""
    rng = np.random.default_rng(0)
    splits = {}
    for number in range(9):
        split = HOSTILE[number % len(HOSTILE)] if number else "train"
        rows = []
        for row in range(40):
            text = HOSTILE[row % len(HOSTILE)]
            start = float(rng.uniform(0, 20))
            end = start - 3 if row % 9 == 0 else start + float(rng.uniform(1, 20))
            duration = float("nan") if row % 7 == 0 else 30.0
            if row % 11 == 0:
                start = end = float("nan")
            verb = ("opens", "\u202eruns", "<b>eats</b>")[row % 3]
            sentence = f"{text} the man {verb} a door"
            rows.append((f"{number}/{text}#{row}", f"{number}/{text}/{row // 2}", duration, sentence, start, end))
        splits[split] = Annotations.from_rows(rows, dataset="<i>data</i>", split=split)
    return surveyed(splits, "<script>alert(1)</script>\u202e " + "x" * 300)


@pytest.fixture(scope="session")
def bare_survey() -> Survey:
    """Give the survey of two queries, one without a moment: little is defined."""
    rows = [("v#0", "v", 30.0, "the door", 2.0, 6.0), ("v#1", "v", 30.0, "", float("nan"), float("nan"))]
    return surveyed({"all": Annotations.from_rows(rows)}, "bare")


@pytest.fixture(scope="session")
def placeless_survey() -> Survey:
    """Give the survey of videos of unknown duration."""
    rows = [(f"v{n}#0", f"v{n}", float("nan"), f"a man opens door {n}", 2.0, 6.0) for n in range(5)]
    splits = {name: Annotations.from_rows(rows, dataset="placeless", split=name) for name in ("train", "test")}
    return surveyed(splits, "placeless")


@pytest.fixture(scope="session")
def grid_survey() -> Survey:
    """Give the survey of moments that begin and end with segments of 5 s, most with the first."""
    pairs = [(a, b) for a in range(6) for b in range(a + 1, 7)] + 9 * [(0, 1)]
    rows = [(f"v{n}#0", f"v{n}", 30.0, f"a man opens door {n}", 5.0 * a, 5.0 * b) for n, (a, b) in enumerate(4 * pairs)]
    return surveyed({"test": Annotations.from_rows(rows, dataset="segments", split="test")}, "Segments")
