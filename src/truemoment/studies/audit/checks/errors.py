"""The kinds of wrong first answers, and the gain of correcting each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from truemoment.base.intervals import Bools, Floats, temporal_iou
from truemoment.evaluation.error_kinds import HIT, KINDS, ErrorKinds, error_kinds
from truemoment.evaluation.measures import DiscountedRecall, Measure, Recall
from truemoment.report.charts import StripChart, StripMark, StripRow
from truemoment.report.model import Bar, Block, Example, Examples, Paragraph
from truemoment.report.words import points
from truemoment.studies.audit.checks.base import EXAMPLES, SCORE, Check
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results
from truemoment.studies.evaluate.first_answers import first_answers

if TYPE_CHECKING:
    pass

NAME = "errors"

ERRORS = {
    "too long": "of top-1 predictions contain the reference but are too long",
    "too short": "of top-1 predictions lie within the reference but are too short",
    "shifted": "of top-1 predictions are in the right place with the wrong extent",
    "wrong place": "of top-1 predictions miss the reference",
    "empty or swapped": "of top-1 predictions do not end after they start",
    "no answer": "of the queries have no prediction that could be read",
    "hidden": "of the queries have a right prediction that is not ranked first",
    "hidden by duplicates": "of the queries have a right prediction after repetitions of a wrong one",
}
"""Descriptions of the kinds of error, after a share."""


def errors(results: Results) -> ErrorKinds:
    """Classify the first answers at the headline's threshold."""
    setup = results.setup
    return error_kinds(setup.annotations, setup.predictions, threshold_of(results.measure), setup.protocol)


def threshold_of(headline: Measure) -> float:
    """Return the minimum IoU of a hit for the kinds of error, given the headline measure."""
    return headline.iou if isinstance(headline, Recall | DiscountedRecall) else 0.5


def look(results: Results) -> AuditFinding:
    """Name the main error."""
    kinds = results.cached(errors)
    measure = kinds.measures[0]
    lines = tuple(
        f"{kind.kind}: {kind.n_queries:,} ({100 * kind.share:.1f} %)"
        + (f", correcting them adds {points(kind.gain[0])} points of {measure}" if kind.gain[0] > 0 else "")
        for kind in kinds.table
    )
    wrong = [kind for kind in kinds.table if kind.gain[0] > 0]
    if not wrong:
        sound = kinds.figures[0] == 1
        verdict = "No first answer is wrong." if sound else "No first answer can be corrected: references are faulty."
        return AuditFinding(NAME, "good" if sound else "note", verdict, lines)
    largest = max(wrong, key=lambda kind: kind.gain[0])
    verdict = (
        f"Main error: {100 * largest.share:.0f} % {ERRORS.get(largest.kind, largest.kind)} ('{largest.kind}'). "
        f"Correcting them would add {points(largest.gain[0])} points of {measure}."
    )
    return AuditFinding(NAME, "note", verdict, lines, float(largest.share))


def blocks(results: Results) -> dict[str, tuple[Block, ...]]:
    """Draw the gain of correcting each kind of error; show examples."""
    kinds = results.cached(errors)
    chart = errors_strip(kinds)
    shown = examples(results, kinds)
    if not shown:
        return {SCORE: (chart,)}
    rule = Paragraph(
        "A fixed rule selects the examples: hits where the strongest floor misses, one of each kind of miss, a hit at "
        "a lower rank, and an answer past the end of its video. The SHA-256 of the ids decides between equal queries. "
        f"The floor is {results.strongest(results.headline)}."
    )
    return {SCORE: (chart,), EXAMPLES: (rule, Examples(shown))}


def errors_strip(kinds: ErrorKinds) -> StripChart:
    """Return the gain in R@1, mIoU and AxIoU from correcting each kind of error."""
    lines = [line for line in kinds.table if line.n_queries and line.kind != "hit"]
    groups = [
        (
            measure.removesuffix(f"[ref={kinds.references}]"),
            tuple(
                StripRow(line.kind, (StripMark("method", 100 * float(line.gain[k])),), f"{line.n_queries:,}")
                for line in lines
            ),
        )
        for k, measure in enumerate(kinds.measures)
    ]
    return StripChart(
        "errors",
        "Kinds of error of the first answers",
        "Gain of each measure if one kind of error were corrected. 'Hidden' are hits at a lower rank, moved to rank 1; "
        "they also count among the other kinds.",
        "gain, points",
        tuple(groups if lines else ()),
        note="queries",
    )


def document(results: Results) -> dict[str, Any]:
    """Return the kinds of error and the gain of correcting each."""
    kinds = results.cached(errors)
    entry = {
        "threshold": kinds.threshold,
        "depth": kinds.depth,
        "references": kinds.references,
        "measures": kinds.measures,
        "figures": kinds.figures,
        "kinds": kinds.table,
    }
    return {"errors": entry if np.all(np.isfinite(kinds.figures)) else entry | {"why": "no query counts"}}


N_EXAMPLES = 8
N_SHOWN = 3
"""Maximum number of predictions, and of references, that an example shows."""


def examples(results: Results, errors: ErrorKinds) -> tuple[Example, ...]:
    """Return at most 8 queries with their moments, the same ones for the same audit.

    They are two hits where the floor misses, one of each kind of wrong answer (most frequent kind first), a hit hidden
    at a lower rank, an answer past the end of its video, and then hits. Among equal queries, the smallest SHA-256 of
    the ids comes first.
    """
    setup, annotations = results.setup, results.annotations
    ranking, queries = setup.protocol.ranking, annotations.queries
    predictions = setup.predictions.ranked_by_score() if ranking == "score" else setup.predictions
    row = predictions.rows_of(queries.query_id)
    strongest = results.floors[int(results.verdict.strongest[results.headline])]
    first = first_answers(annotations, strongest.predictions, ranking=ranking)
    shown = []
    for query, why in _by_rule(results, errors).items():
        rows = slice(annotations.offsets[query], annotations.offsets[query + 1])
        references = np.stack([annotations.start_s[rows], annotations.end_s[rows]], axis=1)
        predicted = np.zeros((0, 2))
        if row[query] >= 0:
            answers = slice(predictions.offsets[row[query]], predictions.offsets[row[query] + 1])
            predicted = np.stack([predictions.start_s[answers], predictions.end_s[answers]], axis=1)
        floor_moment = np.array([first.start_s[query], first.end_s[query]])
        bars = [Bar("reference", "reference", start_s, end_s) for start_s, end_s in references[:N_SHOWN].tolist()]
        if len(references) > N_SHOWN:
            bars[-1] = bars[-1]._replace(note=f"and {len(references) - N_SHOWN} more references")
        bars += _bars(predicted, int(errors.rank_of_hit[query]), references)
        if np.all(np.isfinite(floor_moment)):
            bars.append(_bar("floor", "floor", floor_moment, references))
        query_id, video_id, sentence = (
            str(column[query]) for column in (queries.query_id, queries.video_id, queries.sentence)
        )
        shown.append(Example(why, query_id, video_id, sentence, float(queries.duration_s[query]), tuple(bars)))
    return tuple(shown)


def _bars(predicted: Floats, rank_of_hit: int, references: Floats) -> list[Bar]:
    """Return the first predictions, and the hit further down the list."""
    ranks = [rank for rank in range(1, len(predicted) + 1) if rank <= N_SHOWN or rank == rank_of_hit]
    return [_bar("prediction", f"answer {rank}", predicted[rank - 1], references) for rank in ranks]


def _bar(kind: Literal["prediction", "floor"], label: str, moment: Floats, references: Floats) -> Bar:
    """Return a moment with its largest IoU with a reference."""
    start_s, end_s = moment.tolist()
    best = float(np.max(temporal_iou(start_s, end_s, references[:, 0], references[:, 1]), initial=0))
    return Bar(kind, label, start_s, end_s, f"IoU {best:.2f}")


def _by_rule(results: Results, errors: ErrorKinds) -> dict[int, str]:
    """Return the selected queries by row, each with the reason."""
    setup, measure = results.setup, results.measure
    hit = (errors.kind == KINDS.index(HIT)) & errors.counts
    first = first_answers(setup.annotations, setup.predictions, ranking=setup.protocol.ranking)
    past = errors.counts & (first.end_s > setup.annotations.queries.duration_s + 1e-6)
    candidates: list[tuple[str, int, Bools]] = []
    if isinstance(measure, Recall) and measure.n == 1:
        floor_misses = ~(results.strongest_scores.numerator[results.headline] > 0)
        candidates.append(("a hit where the floor misses", 2, hit & floor_misses))
    kinds = [line for line in errors.table if line.kind in KINDS and line.kind != HIT and line.n_queries]
    candidates += [
        (f"a miss: {line.kind}", 1, (errors.kind == KINDS.index(line.kind)) & errors.counts)
        for line in sorted(kinds, key=lambda line: -line.n_queries)[:4]
    ]
    candidates += [
        ("a hit hidden at a lower rank", 1, (errors.rank_of_hit > 1) & errors.counts),
        ("an answer past the end of its video", 1, past),
        ("a hit", N_EXAMPLES, hit),
    ]
    order = results.annotations.queries.order_by_hash()
    selected: dict[int, str] = {}
    for why, many, marked in candidates:
        free = (query for query in order[marked[order]].tolist() if query not in selected)
        selected |= {query: why for query, _ in zip(free, range(min(many, N_EXAMPLES - len(selected))), strict=False)}
    return selected


CHECK = Check(
    name=NAME,
    title="Kinds of error",
    looks_at="kinds of wrong first answers, and the gain of correcting each",
    look=look,
    figure="share of the queries of the main error",
    blocks=blocks,
    document=document,
)
