"""The page of an audit: one HTML file that needs no network, to be opened in a browser, printed, or sent to a reviewer.

What is said stands here, how it looks in ``templates/audit.html.j2``. Whatever comes from outside (sentences, ids,
names of files) is escaped by the template and stands in elements of its own direction. Examples are chosen by a
rule, never by hand: see :func:`examples`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from truemoment.auditing import Audit, Finding, Outcome, Results
from truemoment.auditing.checks import changed_videos, errors, shortcut_share, slices
from truemoment.auditing.results import Paired
from truemoment.auditing.verdict import LITTLE
from truemoment.auditing.words import number
from truemoment.diagnosis.answers import first_answers
from truemoment.diagnosis.errors import HIT, KINDS
from truemoment.intervals import Bools, Floats, Ints, temporal_iou
from truemoment.measures import Measure, Recall, why_undefined
from truemoment.records import Annotations, Predictions
from truemoment.reports.audit import (
    LEVELS,
    NO_INTERVAL,
    closing,
    in_order,
    preamble,
)
from truemoment.reports.drawing import inline_svg
from truemoment.reports.figures import drawings
from truemoment.reports.model import Cell, Drawing, Table
from truemoment.reports.render.pages import render_page
from truemoment.scores import Scores

TITLES: Mapping[str, str] = {
    "skill": "Skill",
    "shortcut-share": "Shortcut share",
    "excess-where-blind-misses": "Where the sentence network misses",
    "without-right-video": "Without the right video",
    "below-floor": "Below a floor",
    "training-places": "Places of the answers",
    "carrying-classes": "What carries the score",
    "uses-video": "Shuffled videos",
    "looks-at-video": "Changed videos",
    "text-only": "Without the frames",
    "iid-ood-gap": "From test-iid to here",
    "loose-threshold": "Low thresholds",
    "shallow-lists": "Short lists of answers",
    "long-moments": "Long references",
    "answer-pattern": "Pattern of the answers",
    "unread-share": "Answers in words",
    "abstention": "Abstaining",
    "validity": "Validity of the answers",
    "leakage": "Other splits",
    "conventions": "Evaluators",
    "resolution": "Resolution of the split",
    "references": "Faults of the references",
    "errors": "Kinds of error",
}
"""What checks are called on the page; others by their name."""

IN_WORDS: Mapping[str, str] = {
    "serious": "A reviewer will object",
    "warning": "A reviewer will ask",
    "note": "Worth knowing",
    "good": "In order",
}

N_EXAMPLES = 8
N_SHOWN = 3
"""Answers, and references, of an example that are drawn."""

BEYOND = 1.3
"""A time line ends at this multiple of the video at the latest; what lies beyond is told in words."""


class Bar(NamedTuple):
    """A moment on a time line; places are per cent of the line.

    Parameters
    ----------
    kind
        ``reference``, ``answer`` or ``floor``.
    label
        Which it is.
    times, note
        In words: its times, and what there is to say of it.
    left, width
        Where it lies; None if it lies beyond the line.
    past_left, past_width
        Its part past the end of the video; None if it has none.
    cut
        Whether it reaches further than the line does.
    """

    kind: str
    label: str
    times: str
    note: str
    left: float | None
    width: float
    past_left: float | None
    past_width: float
    cut: bool


class Example(NamedTuple):
    """A query on a time line.

    Parameters
    ----------
    why
        Why it is shown.
    query_id, video_id, sentence
        The query.
    duration
        In words.
    end_of_video
        Where the video ends, per cent of the line.
    bars
        References, answers by rank, the floor's first answer.
    """

    why: str
    query_id: str
    video_id: str
    sentence: str
    duration: str
    end_of_video: float
    bars: tuple[Bar, ...]


def page(
    audit: Audit,
    *,
    source: Mapping[str, Any],
    seed: int,
    outcomes: Sequence[Outcome] = (),
    command: str = "",
) -> str:
    """Return the page of an audit as HTML; the same audit gives the same text.

    Parameters
    ----------
    audit
        What was looked at, and what was found.
    source
        ``path`` and ``sha256`` of the predictions.
    seed
        Of all draws.
    outcomes
        What became of the conditions of a gate.
    command
        What makes the page again; "" where there is none.
    """
    results = audit.results
    case = results.case
    drawn = [(drawing, inline_svg(drawing)) for drawing in drawings(audit)]
    main = audit.findings[0] if audit.findings else None
    return render_page(
        "audit.html.j2",
        name=case.predictions.name,
        dataset=case.annotations.dataset,
        split=case.annotations.split,
        said=preamble(audit, source),
        facts=_facts(results, source),
        main=main,
        headline=_split_verdict(main),
        tiles=_tiles(results),
        groups=_groups(audit),
        titles=TITLES,
        in_words=IN_WORDS,
        figures_table=_figures_table(results),
        versus_table=_verdict_table(results),
        changed_table=_changed_table(results),
        overview=[one for one in drawn if one[0].name in ("floors", "measures")],
        behind=[one for one in drawn if one[0].name not in ("floors", "measures") and not _is_slice(one[0])],
        by_class=[one for one in drawn if _is_slice(one[0])],
        slice_tables=_slice_tables(results),
        examples=list(examples(results)),
        floor=results.strongest(case.headline),
        outcomes=outcomes,
        without_frames=results.text_only is not None,
        answers_in_words=results.answers.status is not None,
        little=LITTLE,
        headline_measure=case.measures[case.headline],
        resamples=case.resamples,
        permutations=case.permutations,
        signature=closing(audit, seed),
        hashes=_hashes(results, source),
        command=command,
    )


def _is_slice(drawing: Drawing) -> bool:
    return drawing.name.startswith("slices-")


# ---------------------------------------------------------------------------------------------- words


def _split_verdict(finding: Finding | None) -> tuple[str, str]:
    """The few words of a verdict before its figures, and the figures; figures alone stay whole."""
    if finding is None:
        return "", ""
    words, colon, figures = finding.verdict.partition(": ")
    return (words, figures[:1].upper() + figures[1:]) if colon and len(words) < 80 else (finding.verdict, "")


def _groups(audit: Audit) -> list[tuple[str, str, list[Finding]]]:
    """The findings but the first, by level: level, what it means, findings."""
    rest = in_order(audit.findings)[1:]
    groups = ((level, IN_WORDS[level], [one for one in rest if one.level == level]) for level in LEVELS)
    return [group for group in groups if group[2]]


def _facts(results: Results, source: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was audited, a line each."""
    case = results.case
    annotations, nothing = case.annotations, int(results.split.without_moment.sum())
    facts = [
        ("Data", f"{annotations.dataset}, {annotations.split}"),
        (
            "Size",
            f"{annotations.n_queries:,} queries in {annotations.n_videos:,} videos, {len(annotations):,} references"
            + (f"; {nothing:,} more without a moment, for abstaining only" if nothing else ""),
        ),
        ("Answers", str(source.get("path", case.predictions.name))),
        ("Protocol", f"{case.protocol.name}: {case.protocol.summary}"),
    ]
    if case.train is not None:
        facts.append(("Floors", f"{len(results.floors)}, fitted on {_counted(case.train)}"))
    if case.iid is not None:
        facts.append(("Beside it", _counted(case.iid[0])))
    if "model" in source:
        model = source["model"]
        facts.append(("Model", f"{model['name']} ({model['path']}), looking at {model['features']}"))
    if case.caution:
        facts.append(("Caution", case.caution))
    return facts


def _counted(annotations: Annotations) -> str:
    return f"{annotations.split} ({annotations.n_queries:,} queries)"


def _hashes(results: Results, source: Mapping[str, Any]) -> list[tuple[str, str]]:
    case = results.case
    hashed = [("answers", str(source.get("sha256", "")))]
    hashed += [(f"answers, {option}", str(of["sha256"])) for option, of in source.get("beside", {}).items()]
    hashed.append((case.annotations.split, results.split.sha256))
    if results.split.without_moment.any():
        hashed.append((f"{case.annotations.split}, queries with a moment", case.annotations.sha256))
    hashed += [(of.split, of.sha256) for of in (case.train, case.selection) if of is not None]
    return [(name, digest) for name, digest in dict(hashed).items() if digest]


def _tiles(results: Results) -> list[tuple[str, str, str, Cell]]:
    """The figures of the verdict: which one, what it is, its unit, number and interval."""
    m, measure, verdict = results.headline, results.measure, results.verdict
    floor = 1 + int(verdict.strongest[m])
    return [
        (
            *("method", f"{measure} of the method", "%"),
            _figure_cell(results, measure, results.scores.value(measure), results.ci95[0, m]),
        ),
        (
            *("floor", f"{measure} of the strongest floor", "%"),
            _figure_cell(results, measure, results.strongest_scores.value(measure), results.ci95[floor, m]),
        ),
        ("difference", "method less strongest floor", "points", _verdict_cell(results, m)),
        ("skill", "skill: share of the way to the oracle", "", _skill_cell(results, m)),
    ]


# --------------------------------------------------------------------------------------------- tables


def _points(value: float, *, sign: bool = False) -> str:
    """A difference of fractions in points of percent, with a true minus."""
    rounded = round(100 * value, 1) + 0.0  # and no minus before a zero
    return f"{rounded:{'+' if sign else ''}.1f}".replace("-", "\u2212")


def _ends(ci95: Floats, *, sign: bool = False) -> str:
    """The ends of an interval of fractions, in points; "" where there is none."""
    return f"{_points(ci95[0], sign=sign)} to {_points(ci95[1], sign=sign)}" if np.all(np.isfinite(ci95)) else ""


def _p(value: float) -> str:
    return "undefined" if math.isnan(value) else "< 0.001" if value < 0.001 else f"{value:.3f}"


def _figure_cell(
    results: Results, measure: Measure, value: float, ci95: Floats, *, why: str = "", marked: bool = False
) -> Cell:
    """A figure in percent as the protocol prints them, its interval below; or why it is undefined."""
    if math.isnan(value):
        return Cell("undefined", why or why_undefined(measure))
    percent = results.case.protocol.percent
    interval = f"{percent(ci95[0])}\u2013{percent(ci95[1])}" if np.all(np.isfinite(ci95)) else "interval undefined"
    return Cell(percent(value), interval, marked)


def _difference_cell(results: Results, paired: Paired, m: int) -> Cell:
    if math.isnan(paired.difference[m]):
        return Cell("undefined", why_undefined(results.case.measures[m]))
    return Cell(_points(paired.difference[m], sign=True), _ends(paired.ci95[m], sign=True) or NO_INTERVAL)


def _figures_table(results: Results) -> Table:
    """The method, floors and ceilings: a row each, a column a measure."""
    measures = results.case.measures

    def row(title: str, scores: Scores, number: int, marked: Sequence[bool]) -> tuple[Cell, ...]:
        figures = (
            _figure_cell(results, measure, scores.value(measure), results.ci95[number, m], marked=marked[m])
            for m, measure in enumerate(measures)
        )
        return (Cell(title), *figures)

    unmarked = [False] * len(measures)
    n_floors = len(results.floors)
    method = row(results.case.predictions.name, results.scores, 0, unmarked)
    floors = [
        row(floor.title, floor.scores, 1 + number, (results.verdict.strongest == number).tolist())
        for number, floor in enumerate(results.floors)
    ]
    ceilings = [
        row(ceiling.title, ceiling.scores, 1 + n_floors + number, unmarked)
        for number, ceiling in enumerate(results.ceilings)
    ]
    return Table(
        "Percent, with 95 % intervals. A star marks the strongest floor of each measure.",
        ("", *map(str, measures)),
        (("Method", (method,)), ("Floors", tuple(floors)), ("Ceilings", tuple(ceilings))),
    )


def _verdict_cell(results: Results, m: int) -> Cell:
    verdict = results.verdict
    if math.isnan(verdict.difference[m]):
        return Cell("undefined", why_undefined(results.case.measures[m]))
    return Cell(_points(verdict.difference[m], sign=True), _ends(verdict.ci95[m], sign=True) or NO_INTERVAL)


def _skill_cell(results: Results, m: int) -> Cell:
    return _number_cell(results.verdict.skill[m], results.verdict.skill_ci95[m], "the oracle is not above the floor")


def _share_cell(results: Results, m: int) -> Cell:
    share = results.part(shortcut_share.shares)
    return _number_cell(share.value[m], share.ci95[m], "the method's figure is 0 or undefined")


def _number_cell(value: float, ci95: Floats, why: str) -> Cell:
    """A number that is no percentage, its interval below."""
    if math.isnan(value):
        return Cell("undefined", why)
    interval = f"{number(ci95[0])} to {number(ci95[1])}" if np.all(np.isfinite(ci95)) else "interval undefined"
    return Cell(number(value), interval)


def _verdict_table(results: Results) -> Table:
    """The method less the strongest floor, a row a measure."""
    verdict, rows = results.verdict, []
    for m, measure in enumerate(results.case.measures):
        resolves = verdict.resolves[m]
        rows.append(
            (
                Cell(str(measure)),
                Cell(results.strongest(m)),
                Cell(f"{verdict.kind(m)}{', little' if verdict.is_little(m) else ''}"),
                _verdict_cell(results, m),
                _skill_cell(results, m),
                Cell(_p(float(results.p[m]))),
                Cell("undefined" if math.isnan(resolves) else _points(resolves)),
                _share_cell(results, m),
            )
        )
    headings = (
        *("measure", "strongest floor", "verdict", "difference, points", "skill", "p", "detectable, points"),
        "shortcut share",
    )
    caption = (
        f"The method less the strongest of {len(results.floors)} floors on this split, with 95 % intervals that allow "
        "for its choice; p is the largest against any floor."
    )
    return Table(caption, headings, (("", tuple(rows)),), text_columns=(0, 1, 2))


def _changed_table(results: Results) -> Table | None:
    """The model on the original videos and on changed ones, a row each; None where it was not run on any."""
    changed, m = results.part(changed_videos.changed), results.case.headline
    if changed is None:
        return None
    measure = results.case.measures[m]

    def share(value: float) -> Cell:
        return Cell("undefined" if math.isnan(value) else f"{100 * value:.1f}")

    original = _figure_cell(results, measure, changed.scores.value(measure), changed.ci95[m])
    rows = [(Cell("original"), original, *[Cell("")] * 4)]
    rows += [
        (
            Cell(one.words),
            _figure_cell(results, measure, one.scores.value(measure), one.ci95[m]),
            _difference_cell(results, one.fall, m),
            Cell(_p(one.fall.p[m])),
            share(one.displacement.share_unchanged),
            share(one.displacement.share_within()),
        )
        for one in changed.ways
    ]
    headings = ("videos", f"{measure}, %", "fall, points", "p", "unchanged, %", "moved by less than 0.1, %")
    caption = (
        "The same model on changed videos, with 95 % intervals; first answers that are unchanged, or move by less than "
        "a tenth of the video, start and end together."
    )
    return Table(caption, headings, (("", tuple(rows)),))


def _slice_tables(results: Results) -> list[Table]:
    """The headline measure by class of query, a table a family."""
    m, measure = results.headline, results.measure
    rows_of: dict[str, list[tuple[Cell, ...]]] = {}
    for own, floor in zip(results.part(slices.of_method), results.part(slices.of_floor), strict=True):
        why = "fewer than 2 videos" if own.n_videos < 2 else ""
        rows_of.setdefault(own.family, []).append(
            (
                Cell(own.label),
                Cell(f"{own.n_queries:,}"),
                Cell(f"{own.n_videos:,}"),
                _figure_cell(results, measure, float(own.value[m]), own.ci95[m], why=why),
                _figure_cell(results, measure, float(floor.value[m]), floor.ci95[m], why=why),
            )
        )
    headings = ("queries", "videos", "the method, %", "strongest floor, %")
    return [
        Table(f"{measure} by {family}", (family, *headings), (("", tuple(rows)),)) for family, rows in rows_of.items()
    ]


# ------------------------------------------------------------------------------------------- examples


def examples(results: Results) -> Iterator[Example]:
    """Choose queries and lay them out on time lines, at most 8, the same for the same audit.

    Two hits where the floor misses, one of each kind of wrong answer (most frequent kind first), a hit hidden at a
    lower rank, an answer past the end of its video, and then hits. Among queries alike, those with the smallest
    SHA-256 of their ids: an order that nobody chose.
    """
    case = results.case
    predictions = case.predictions.ranked_by_score() if case.protocol.ranking == "score" else case.predictions
    row = predictions.rows_of(case.annotations.queries.query_id)
    strongest = results.floors[int(results.verdict.strongest[results.headline])]
    of_floor = first_answers(case.annotations, strongest.predictions, ranking=case.protocol.ranking)
    for why, query in _chosen(results):
        annotations, queries = case.annotations, case.annotations.queries
        rows = slice(annotations.offsets[query], annotations.offsets[query + 1])
        references = np.stack([annotations.start_s[rows], annotations.end_s[rows]], axis=1)
        answers = _answers_of(predictions, int(row[query]))
        shown = [*range(min(N_SHOWN, len(answers)))]
        rank = int(results.part(errors.errors).rank_of_hit[query])
        if rank > N_SHOWN and rank <= len(answers):
            shown.append(rank - 1)
        floor = np.array([[of_floor.start_s[query], of_floor.end_s[query]]])
        floor = floor[np.isfinite(floor).all(axis=1)]
        duration_s = float(queries.duration_s[query])
        line_s = _length_of_line(duration_s, np.concatenate([references, answers[shown], floor]))
        lay_out = partial(_bar, duration_s=duration_s, line_s=line_s)
        bars = [lay_out("reference", "reference", moment) for moment in references[:N_SHOWN].tolist()]
        if len(references) > N_SHOWN:
            bars[-1] = bars[-1]._replace(note=f"and {len(references) - N_SHOWN} more references")
        bars += [
            lay_out("answer", f"answer {n + 1}", answers[n].tolist(), note=_overlap(answers[n], references))
            for n in shown
        ]
        bars += [lay_out("floor", "floor", moment.tolist(), note=_overlap(moment, references)) for moment in floor]
        yield Example(
            why,
            str(queries.query_id[query]),
            str(queries.video_id[query]),
            str(queries.sentence[query]),
            _seconds(duration_s),
            100 * duration_s / line_s,
            tuple(bars),
        )


def _chosen(results: Results) -> list[tuple[str, int]]:
    """Why each query is shown, and its number."""
    of_errors, case = results.part(errors.errors), results.case
    measure = case.measures[case.headline]
    hit = (of_errors.kind == KINDS.index(HIT)) & of_errors.counts
    first = first_answers(case.annotations, case.predictions, ranking=case.protocol.ranking)
    past = of_errors.counts & (first.end_s > case.annotations.queries.duration_s + 1e-6)
    candidates: list[tuple[str, int, Bools]] = []
    if isinstance(measure, Recall) and measure.n == 1:
        floor_misses = ~(results.strongest_scores.numerator[case.headline] > 0)
        candidates.append(("a hit where the floor misses", 2, hit & floor_misses))
    kinds = [line for line in of_errors.table if line.kind in KINDS and line.kind != HIT and line.n_queries]
    candidates += [
        (f"a miss: {line.kind}", 1, (of_errors.kind == KINDS.index(line.kind)) & of_errors.counts)
        for line in sorted(kinds, key=lambda line: -line.n_queries)[:4]
    ]
    candidates += [
        ("a hit hidden at a lower rank", 1, (of_errors.rank_of_hit > 1) & of_errors.counts),
        ("an answer past the end of its video", 1, past),
        ("a hit", N_EXAMPLES, hit),
    ]
    order = _order_of_nobody(results)
    chosen: dict[int, str] = {}
    for why, many, marked in candidates:
        free = (query for query in order[marked[order]].tolist() if query not in chosen)
        chosen |= {query: why for query, _ in zip(free, range(min(many, N_EXAMPLES - len(chosen))), strict=False)}
    return [(why, query) for query, why in chosen.items()]


def _order_of_nobody(results: Results) -> Ints:
    """Queries by the SHA-256 of their ids, (Q,)."""
    ids = results.case.annotations.queries.query_id
    digests = [hashlib.sha256(query_id.encode("utf-8", "surrogatepass")).digest() for query_id in ids]
    return np.array(sorted(range(len(digests)), key=digests.__getitem__), dtype=np.int64)


def _answers_of(predictions: Predictions, row: int) -> Floats:
    """Start and end of the answers to a query by rank, (K, 2)."""
    if row < 0:
        return np.zeros((0, 2))
    rows = slice(predictions.offsets[row], predictions.offsets[row + 1])
    return np.stack([predictions.start_s[rows], predictions.end_s[rows]], axis=1)


def _overlap(moment: Floats, references: Floats) -> str:
    best = float(np.max(temporal_iou(moment[0], moment[1], references[:, 0], references[:, 1]), initial=0))
    return f"IoU {best:.2f}"


def _length_of_line(duration_s: float, moments: Floats) -> float:
    """Seconds that a time line covers: the video, and a little more where moments end past it."""
    return float(np.clip(np.max(moments, initial=0), duration_s, BEYOND * duration_s))


def _seconds(value: float) -> str:
    return f"{value:,.1f} s"


def _bar(kind: str, label: str, moment: Sequence[float], *, duration_s: float, line_s: float, note: str = "") -> Bar:
    """Lay a moment out on a line of `line_s` seconds; a swapped one lies between its ends and is told."""
    start_s, end_s = moment
    low, high = min(start_s, end_s), max(start_s, end_s)
    faults = [
        (end_s < start_s, "ends before it starts"),
        (end_s == start_s, "has no length"),
        (high > duration_s + 1e-6, "past the end of the video"),
        (low < 0, "begins before the video"),
    ]
    note = ", ".join(filter(None, [note, *(words for is_so, words in faults if is_so)]))

    def place(seconds: float) -> float:
        return 100 * min(max(seconds, 0.0), line_s) / line_s

    left, right, end_of_video = place(low), place(high), place(duration_s)
    past_left = max(left, end_of_video) if high > duration_s + 1e-6 else None
    return Bar(
        kind=kind,
        label=label,
        times=f"{start_s:,.1f}\u2013{end_s:,.1f} s".replace("-", "\u2212"),
        note=note,
        left=None if low > line_s else left,
        width=right - left,
        past_left=None if low > line_s else past_left,
        past_width=0.0 if past_left is None else right - past_left,
        cut=high > line_s,
    )
