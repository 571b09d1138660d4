"""Sentences with an order in time, a negation, a count or an anaphor: where the method gains more over the network.

On each of these classes the method is compared with the sentence network, the strongest learner that never sees the
video, and its gain there with its gain on all other queries (:mod:`truemoment.studies.audit.checks.gains`). The network
is that of :mod:`truemoment.studies.audit.checks.excess_where_blind_misses`: fitted on the training split, or out of
fold without one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from truemoment.base.boundary.caching import Cache
from truemoment.base.boundary.documents import Measured
from truemoment.base.intervals import Bools
from truemoment.base.records import Annotations
from truemoment.baselines.floors import NETWORK
from truemoment.data.language import get_engine
from truemoment.data.language.marks import MARKS, marks_of
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import LEVEL
from truemoment.report.model import Block, Cell, Paragraph, Table
from truemoment.report.words import interval95_points, listed, p_number, points
from truemoment.studies.audit.checks import excess_where_blind_misses
from truemoment.studies.audit.checks.base import CLASSES, Check
from truemoment.studies.audit.checks.gains import FEWEST_VIDEOS, ClassGain, Tested, classes_of, gains_by_class
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results
from truemoment.studies.audit.table_cells import points_cell
from truemoment.studies.evaluate.slices import membership

NAME = "language-classes"

WORDS = {
    "temporal order": "that order events in time",
    "negation": "with a negation",
    "counting": "that count things or times",
    "anaphora": "that refer to another sentence",
}
"""What the sentences of each class are called."""


def language_gains(results: Results) -> tuple[ClassGain, ...]:
    """Compare the method with the sentence network by class of sentence; nothing where no network can be fitted."""
    setup, network = results.setup, _network_scores(results)
    if network is None:
        return ()
    results.on_status("classes of sentences")
    marks = _marks(setup.annotations, setup.engine, setup.cache)
    members = membership(setup.annotations, families=list(marks), marks=marks)
    classes = [of for of in classes_of(members) if of[1] == "yes"]
    return tuple(
        gains_by_class(
            results.scores, network, classes, results.stream(NAME), m=results.headline, resamples=setup.resamples
        )
    )


def _network_scores(results: Results) -> Scores | None:
    if (floor := results.floor(NETWORK)) is not None:
        return floor.scores
    answers = results.cached(excess_where_blind_misses.network_answers)
    return None if answers is None else results.evaluate(answers[0])


def _marks(annotations: Annotations, engine: str, cache: Cache) -> dict[str, Bools]:
    """Return which sentences have each mark, (Q,)."""
    sentences = annotations.queries.sentence.tolist()
    key = {"engine": engine, "sentences": annotations.sha256}
    found = cache.arrays("marks", key, lambda: dict(marks_of(sentences, get_engine(engine))))
    return {mark: np.asarray(found[mark], dtype=bool) for mark in MARKS}


def look(results: Results) -> AuditFinding | None:
    """Name the classes on which the gain over the network differs from the gain elsewhere."""
    found = results.cached(language_gains)
    if not found:
        return None
    differ = [of for of in found if of.contrast.q <= LEVEL]
    lines = tuple(_line(of) for of in found)
    if not differ:
        verdict = (
            f"No class of sentences ({listed([of.family for of in found])}) is shown to gain more or less over the "
            f"sentence network at {results.measure} than other sentences, at a false discovery rate of 5 %."
        )
        return AuditFinding(NAME, "note", verdict, lines)
    differ.sort(key=lambda of: of.contrast.value)
    parts = "; ".join(
        f"{points(of.gain.value, sign='+')} points on sentences {WORDS[of.family]} ({points(of.elsewhere, sign='+')} "
        f"elsewhere; difference {points(of.contrast.value, sign='+')}, "
        f"{interval95_points(of.contrast.ci95, sign='+')})"
        for of in differ
    )
    verdict = f"The gain over the sentence network at {results.measure} depends on the sentence: {parts}."
    return AuditFinding(
        NAME, "warning" if differ[0].contrast.value < 0 else "note", verdict, lines, differ[0].contrast.value
    )


def _line(of: ClassGain) -> str:
    return (
        f"{of.family}: {of.n_queries:,} queries, gain {points(of.gain.value, sign='+')} points "
        f"(q {p_number(of.gain.q)}), difference from elsewhere {points(of.contrast.value, sign='+')}, "
        f"{interval95_points(of.contrast.ci95, sign='+')} (p {p_number(of.contrast.p)}, q {p_number(of.contrast.q)})"
    )


def blocks(results: Results) -> dict[str, tuple[Block, ...]]:
    """Show the figures by class."""
    found, percent = results.cached(language_gains), results.setup.protocol.percent
    if not found:
        return {}
    rows = tuple(
        (
            Cell(of.family),
            Cell(f"{of.n_queries:,}"),
            Cell(percent(of.value)),
            Cell(percent(of.blind)),
            points_cell(of.gain.value, of.gain.ci95, results.measure),
            Cell(points(of.elsewhere, sign="+")),
            points_cell(of.contrast.value, of.contrast.ci95, results.measure),
            Cell(p_number(of.contrast.q), _judged(of.contrast)),
        )
        for of in found
    )
    words = Paragraph(
        "Sentences that order events in time, negate, count, or refer to another sentence, a class each; a sentence is "
        "in all classes that apply. The gain is the method less the sentence network, with 95 % intervals. The "
        "difference is the gain on the class less the gain elsewhere; q is its false discovery rate."
    )
    headings = ("queries", "method, %", "network, %", "gain", "gain elsewhere", "difference", "q")
    return {CLASSES: (words, Table(f"{results.measure} by class of sentence", ("class", *headings), (("", rows),)))}


def _judged(contrast: Tested) -> str:
    if not contrast.q <= LEVEL:
        return "not shown"
    return "less than elsewhere" if contrast.value < 0 else "more than elsewhere"


def document(results: Results) -> dict[str, Any]:
    """Return the figures of every class."""
    return {
        "language_classes": [
            {
                "class": of.family,
                "n_queries": of.n_queries,
                "n_videos": of.n_videos,
                "method": of.value,
                "network": of.blind,
                "gain": _document(of.gain),
                "gain_elsewhere": of.elsewhere,
                "difference": _document(of.contrast),
            }
            for of in results.cached(language_gains)
        ]
    }


def _document(of: Tested) -> dict[str, Any]:
    return Measured(of.value, ci95=of.ci95.tolist()).as_dict() | {"p": of.p, "q": of.q}


CHECK = Check(
    name=NAME,
    title="Which sentences it gains on",
    looks_at=(
        "the gain over the sentence network on sentences with an order in time, a negation, a count or an anaphor, "
        f"less the gain on others (classes of {FEWEST_VIDEOS} videos or more)"
    ),
    look=look,
    figure="the lowest such difference that is found",
    blocks=blocks,
    document=document,
)
