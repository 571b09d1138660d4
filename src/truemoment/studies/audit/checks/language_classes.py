r"""The gain over the sentence network on sentences with an order in time, a negation, a count or an anaphor.

On each of these classes the method is compared with the sentence network, the strongest learner that never sees the
video. The gain on the class is then compared with the gain on all other queries. The network is that of
:mod:`truemoment.studies.audit.checks.excess_where_blind_misses`: fitted on the training split, or out of fold without
one.

With d the method's numerators less the network's and w the weights, the gain in class c is

.. math:: g_c = \sum_{q \in c} d_q / \sum_{q \in c} w_q,

the gain elsewhere :math:`g_{\bar c}` is the same over the other queries, and the contrast is
:math:`g_c - g_{\bar c}`. A hard class has a low figure and a class that is easy to guess a high one; neither moves the
contrast unless the method gains more or less there.

Intervals and p-values are computed by the studentised bootstrap of videos (:mod:`truemoment.evaluation.studentised`).
That of the contrast uses its linearised value of each video,
:math:`\sum_{q \in v \cap c} (d_q - g_c w_q) / \sum_c w - \sum_{q \in v \setminus c} (d_q - g_{\bar c} w_q) / \sum_{\bar
c} w`. A query is often in several classes, and a video has queries in many, so the tests depend on each other. The q
values of Benjamini and Yekutieli are valid under any dependence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from truemoment.base.boundary.caching import Cache
from truemoment.base.boundary.documents import Measured
from truemoment.base.intervals import Bools, Floats
from truemoment.base.records import Annotations, numbers_of
from truemoment.baselines.floors import NETWORK
from truemoment.data.language import get_engine
from truemoment.data.language.marks import MARKS, marks_of
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.studentised import Ratios, resample_ratios
from truemoment.evaluation.uncertainty import LEVEL, NO_WEIGHT, check_paired, q_values
from truemoment.report.model import Block, Cell, Paragraph, Table
from truemoment.report.words import interval95_points, listed, p_number, points
from truemoment.studies.audit.checks import excess_where_blind_misses
from truemoment.studies.audit.checks.base import CLASSES, Check
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results
from truemoment.studies.audit.table_cells import points_cell
from truemoment.studies.evaluate.slices import Membership, membership

FEWEST_VIDEOS = 20
"""Minimum number of videos inside, and outside, a class that is compared."""


class DifferenceTest(NamedTuple):
    """A difference of two figures with its 95 % interval (2,), two-sided p-value and q value; fractions."""

    value: float
    ci95: Floats
    p: float
    q: float


class ClassGain(NamedTuple):
    """The gain of a method over a blind method on a class of queries; fractions.

    Parameters
    ----------
    value, blind
        Figures of the two.
    gain
        Figure of the method less that of the blind method.
    elsewhere
        The gain on all other queries.
    contrast
        `gain` less `elsewhere`.
    """

    family: str
    label: str
    n_queries: int
    n_videos: int
    value: float
    blind: float
    gain: DifferenceTest
    elsewhere: float
    contrast: DifferenceTest


def gains_by_class(
    own: Scores,
    blind: Scores,
    classes: Sequence[tuple[str, str, Bools]],
    rng: np.random.Generator,
    *,
    m: int = 0,
    resamples: int = 1000,
) -> list[ClassGain]:
    """Compare a method with a blind method on classes of queries, and each class with all other queries.

    Parameters
    ----------
    own, blind
        Scores of the two over the same queries.
    classes
        Family, label and members (Q,) of each class; see :func:`classes_of`. Classes with fewer than 20 videos inside
        or outside are left out.
    m
        Row of the measure in both scores.
    """
    check_paired([own, blind])
    weight, video = own.weight[m], numbers_of(own.video_id)
    weighs = weight > NO_WEIGHT
    classes = [
        group
        for group in classes
        if min(len(np.unique(video[weighs & part])) for part in (group[2], ~group[2])) >= FEWEST_VIDEOS
    ]
    if not classes:
        return []
    difference, n_videos = own.numerator[m] - blind.numerator[m], int(video.max()) + 1

    def by_video(row: Floats) -> Floats:
        return np.asarray(np.bincount(video, row, n_videos), dtype=np.float64)

    elsewhere, columns = [], []
    for _, _, inside in classes:
        shares, linear = [], []
        for part in (inside, ~inside):
            total = weight[part].sum()
            shares.append(difference[part].sum() / total)
            linear.append(by_video((difference - shares[-1] * weight) * part) / total)
        elsewhere.append(shares[1])
        columns.append(shares[0] - shares[1] + n_videos * (linear[0] - linear[1]))
    for_gains, for_contrasts = rng.spawn(2)
    gains, weights = (
        np.stack([by_video(row * inside) for _, _, inside in classes], axis=1) for row in (difference, weight)
    )
    contrasts = np.stack(columns, axis=1)
    tested = [
        _difference_tests(resample_ratios(numerator, denominator, stream, resamples=resamples))
        for numerator, denominator, stream in (
            (gains, weights, for_gains),
            (contrasts, np.ones_like(contrasts), for_contrasts),
        )
    ]
    return [
        ClassGain(
            family=family,
            label=label,
            n_queries=int((weighs & inside).sum()),
            n_videos=len(np.unique(video[weighs & inside])),
            value=float(own.numerator[m][inside].sum() / weight[inside].sum()),
            blind=float(blind.numerator[m][inside].sum() / weight[inside].sum()),
            gain=gain,
            elsewhere=float(rest),
            contrast=contrast,
        )
        for (family, label, inside), rest, gain, contrast in zip(classes, elsewhere, *tested, strict=True)
    ]


def classes_of(members: Sequence[Membership]) -> list[tuple[str, str, Bools]]:
    """Return the classes of all families; only the last one of a family of two, because they are complements."""
    return [
        (member.family, label, mask)
        for member in members
        for label, mask in zip(member.labels, member.masks, strict=True)
        if len(member.labels) != 2 or label == member.labels[1]
    ]


def _difference_tests(drawn: Ratios) -> list[DifferenceTest]:
    p = np.minimum(2 * drawn.p_values().min(axis=0), 1)
    ci95 = np.stack(drawn.bounds(LEVEL), axis=-1)
    return [
        DifferenceTest(*row) for row in zip(drawn.value.tolist(), ci95, p.tolist(), q_values(p).tolist(), strict=True)
    ]


NAME = "language-classes"

WORDS = {
    "temporal order": "that order events in time",
    "negation": "with a negation",
    "counting": "that count things or times",
    "anaphora": "that refer to another sentence",
}
"""Descriptions of the sentences of each class."""


def language_gains(results: Results) -> tuple[ClassGain, ...]:
    """Compare the method with the sentence network by class of sentence; empty if no network can be fitted."""
    setup, floor, network = results.setup, results.floor(NETWORK), None
    if floor is not None:
        network = floor.scores
    elif (answers := results.cached(excess_where_blind_misses.network_answers)) is not None:
        network = results.evaluate(answers[0])
    if network is None:
        return ()
    results.on_status("classes of sentences")
    marks = _marks(setup.annotations, setup.engine, setup.cache)
    members = membership(setup.annotations, families=list(marks), marks=marks)
    classes = [group for group in classes_of(members) if group[1] == "yes"]
    return tuple(
        gains_by_class(
            results.scores, network, classes, results.stream(NAME), m=results.headline, resamples=setup.resamples
        )
    )


def _marks(annotations: Annotations, engine: str, cache: Cache) -> dict[str, Bools]:
    """Return which sentences have each mark, (Q,)."""
    sentences = annotations.queries.sentence.tolist()
    key = {"engine": engine, "sentences": annotations.sha256}
    arrays = cache.arrays("marks", key, lambda: dict(marks_of(sentences, get_engine(engine))))
    return {mark: np.asarray(arrays[mark], dtype=bool) for mark in MARKS}


def look(results: Results) -> AuditFinding | None:
    """Name the classes on which the gain over the network differs from the gain on other sentences."""
    gains = results.cached(language_gains)
    if not gains:
        return None
    differ = [row for row in gains if row.contrast.q <= LEVEL]
    lines = tuple(_line(row) for row in gains)
    if not differ:
        verdict = (
            f"No class of sentences ({listed([row.family for row in gains])}) is shown to gain more or less over the "
            f"sentence network at {results.measure} than other sentences, at a false discovery rate of 5 %."
        )
        return AuditFinding(NAME, "note", verdict, lines)
    differ.sort(key=lambda row: row.contrast.value)
    parts = "; ".join(
        f"{points(row.gain.value, sign='+')} points on sentences {WORDS[row.family]} "
        f"({points(row.elsewhere, sign='+')} elsewhere; difference {points(row.contrast.value, sign='+')}, "
        f"{interval95_points(row.contrast.ci95, sign='+')})"
        for row in differ
    )
    verdict = f"The gain over the sentence network at {results.measure} depends on the sentence: {parts}."
    return AuditFinding(
        NAME, "warning" if differ[0].contrast.value < 0 else "note", verdict, lines, differ[0].contrast.value
    )


def _line(row: ClassGain) -> str:
    return (
        f"{row.family}: {row.n_queries:,} queries, gain {points(row.gain.value, sign='+')} points "
        f"(q {p_number(row.gain.q)}), difference from elsewhere {points(row.contrast.value, sign='+')}, "
        f"{interval95_points(row.contrast.ci95, sign='+')} (p {p_number(row.contrast.p)}, q {p_number(row.contrast.q)})"
    )


def blocks(results: Results) -> dict[str, tuple[Block, ...]]:
    """Show the figures by class."""
    gains, percent = results.cached(language_gains), results.setup.protocol.percent
    if not gains:
        return {}
    rows = tuple(
        (
            Cell(row.family),
            Cell(f"{row.n_queries:,}"),
            Cell(percent(row.value)),
            Cell(percent(row.blind)),
            points_cell(row.gain.value, row.gain.ci95, results.measure),
            Cell(points(row.elsewhere, sign="+")),
            points_cell(row.contrast.value, row.contrast.ci95, results.measure),
            Cell(p_number(row.contrast.q), _judgement(row.contrast)),
        )
        for row in gains
    )
    words = Paragraph(
        "The classes are sentences that order events in time, negate, count, or refer to another sentence; a sentence "
        "can be in several. The gain is the method less the sentence network, with 95 % intervals. The difference is "
        "the gain on the class less the gain elsewhere; q is its false discovery rate."
    )
    headings = ("queries", "method, %", "network, %", "gain", "gain elsewhere", "difference", "q")
    return {CLASSES: (words, Table(f"{results.measure} by class of sentence", ("class", *headings), (("", rows),)))}


def _judgement(contrast: DifferenceTest) -> str:
    if not contrast.q <= LEVEL:
        return "not shown"
    return "less than elsewhere" if contrast.value < 0 else "more than elsewhere"


def document(results: Results) -> dict[str, Any]:
    """Return the figures of every class."""
    return {
        "language_classes": [
            {
                "class": row.family,
                "n_queries": row.n_queries,
                "n_videos": row.n_videos,
                "method": row.value,
                "network": row.blind,
                "gain": _document(row.gain),
                "gain_elsewhere": row.elsewhere,
                "difference": _document(row.contrast),
            }
            for row in results.cached(language_gains)
        ]
    }


def _document(difference: DifferenceTest) -> dict[str, Any]:
    return Measured(difference.value, ci95=difference.ci95.tolist()).as_dict() | {"p": difference.p, "q": difference.q}


CHECK = Check(
    name=NAME,
    title="Which sentences it gains on",
    looks_at=(
        "the gain over the sentence network on sentences with an order in time, a negation, a count or an anaphor, "
        f"less the gain on others (classes of {FEWEST_VIDEOS} videos or more)"
    ),
    look=look,
    figure="the lowest of the differences that are shown",
    blocks=blocks,
    document=document,
)
