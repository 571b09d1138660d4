"""R and dR against the threshold, and hits by length of the reference: what figures of the report show."""

from __future__ import annotations

from truemoment.auditing.results import Results
from truemoment.diagnosis.curves import Curves, SuccessByLength, recall_curves, success_by_length
from truemoment.measures import Recall
from truemoment.scores import Scores


def curves(results: Results) -> tuple[tuple[str, Curves], ...]:
    """Return the curves of the method, the strongest floor, PredictAll and the text-only model, each with a name."""
    results.on_status("curves")
    setup, floors = results.setup, results.floors
    strongest = int(results.verdict.strongest[results.headline])
    shown = dict.fromkeys([strongest, 0, *([] if results.text_only is None else [results.text_only])])
    answered = [(setup.predictions.name, setup.predictions), *((floors[f].title, floors[f].predictions) for f in shown)]
    return tuple((name, recall_curves(setup.annotations, of, setup.protocol)) for name, of in answered)


def by_length(results: Results) -> SuccessByLength | None:
    """Count the method's hits and misses by length of the reference; None if the headline is no recall."""
    return _by_length(results, results.scores)


def floor_by_length(results: Results) -> SuccessByLength | None:
    """Count those of the strongest floor."""
    floor = results.floors[int(results.verdict.strongest[results.headline])]
    return _by_length(results, floor.draws[0] if floor.draws else floor.scores)


def _by_length(results: Results, scores: Scores) -> SuccessByLength | None:
    headline = results.measure
    return success_by_length(scores, results.annotations, headline) if isinstance(headline, Recall) else None
