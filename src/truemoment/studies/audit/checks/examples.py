"""Examples of an audit: queries chosen by a rule, with their moments on a time line."""

from __future__ import annotations

from typing import Literal

import numpy as np

from truemoment.base.intervals import Bools, Floats, temporal_iou
from truemoment.evaluation.error_kinds import HIT, KINDS, ErrorKinds
from truemoment.evaluation.measures import Recall
from truemoment.report.model import Bar, Example
from truemoment.studies.audit.results import Results
from truemoment.studies.evaluate.first_answers import first_answers

N_EXAMPLES = 8
N_SHOWN = 3
"""Predictions, and references, of an example that are drawn."""


def examples(results: Results, errors: ErrorKinds) -> tuple[Example, ...]:
    """Return at most 8 queries with their moments, the same for the same audit.

    Two hits where the floor misses, one of each kind of wrong answer (most frequent kind first), a hit hidden at a
    lower rank, an answer past the end of its video, and then hits. Among equal queries, those with the smallest
    SHA-256 of their ids.
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
        of_floor = np.array([first.start_s[query], first.end_s[query]])
        bars = [*_reference_bars(references), *_bars(predicted, int(errors.rank_of_hit[query]), references)]
        if np.all(np.isfinite(of_floor)):
            bars.append(_bar("floor", "floor", of_floor, references))
        query_id, video_id, sentence = (str(of[query]) for of in (queries.query_id, queries.video_id, queries.sentence))
        shown.append(Example(why, query_id, video_id, sentence, float(queries.duration_s[query]), tuple(bars)))
    return tuple(shown)


def _reference_bars(references: Floats) -> list[Bar]:
    """Return the first references, with a remark on further ones."""
    bars = [Bar("reference", "reference", start_s, end_s) for start_s, end_s in references[:N_SHOWN].tolist()]
    if len(references) > N_SHOWN:
        bars[-1] = bars[-1]._replace(note=f"and {len(references) - N_SHOWN} more references")
    return bars


def _bars(predicted: Floats, rank_of_hit: int, references: Floats) -> list[Bar]:
    """Return the first predictions, and the one that hits further down the list."""
    ranks = [rank for rank in range(1, len(predicted) + 1) if rank <= N_SHOWN or rank == rank_of_hit]
    return [_bar("prediction", f"answer {rank}", predicted[rank - 1], references) for rank in ranks]


def _bar(kind: Literal["prediction", "floor"], label: str, moment: Floats, references: Floats) -> Bar:
    """Return a moment with its largest IoU with a reference."""
    start_s, end_s = moment.tolist()
    best = float(np.max(temporal_iou(start_s, end_s, references[:, 0], references[:, 1]), initial=0))
    return Bar(kind, label, start_s, end_s, f"IoU {best:.2f}")


def _by_rule(results: Results, errors: ErrorKinds) -> dict[int, str]:
    """Return the chosen queries by number, each with why it is shown."""
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
