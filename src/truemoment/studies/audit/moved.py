"""Answers on videos in which the moments move, and where the same answers lie if they do not follow.

A method that finds moments gives the moved moment. A method that guesses gives the answer that it gave before: at the
same seconds from the start or the end, or at the same share of a video that is longer or shorter now.
:mod:`truemoment.media.features.moving` lists the changes and their sources.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Bools, Floats
from truemoment.base.records import Annotations, Predictions
from truemoment.data.references import read_annotations
from truemoment.evaluation.protocols.base import Ranking
from truemoment.media.features.moving import REFERENCES, MovedFeatures
from truemoment.studies.audit.shuffled import SLIGHT_NORM, SeesVideo, compare_shuffled

SAME_S = 0.001
"""Seconds by which the two ends of a moment may move differently: files round."""


@dataclass(frozen=True, eq=False)
class Moved:
    """References in the time of changed videos, and predictions on these.

    Parameters
    ----------
    annotations
        The queries of the audited split in its order, with moved moments and new durations.
    predictions
        Predictions on the changed videos.
    is_model
        Whether they are of the model of the audit, and not of a file.
    """

    annotations: Annotations
    predictions: Predictions
    is_model: bool = False


def predict_on_moved(
    grounder: SeesVideo,
    annotations: Annotations,
    moves: Sequence[str],
    *,
    top: int,
    seed: int,
    on_status: Callable[[str], None] = lambda _: None,
) -> dict[str, Moved]:
    """Return the answers of a method on videos in which moments move, by change."""
    features, answers = grounder.features, {}
    for move in moves:
        if features is None:
            raise UsageError(f"--change {move}: {grounder.name} sees no video")
        on_status(f"{move} videos")
        store, references = MovedFeatures.of(features, annotations, move, seed)
        answers[move] = Moved(references, grounder.with_features(store).ground(references.queries, top), is_model=True)
    return answers


def read_moved(folder: Path, original: Annotations) -> Annotations:
    """Read the references of a folder of changed videos; refuse others than those of a split with moved moments."""
    path = folder / REFERENCES
    moved = read_annotations(path)
    where = f"{original.dataset}/{original.split}"
    if moved.query_id.tolist() != original.query_id.tolist():
        problem = f"found other queries than {where}, expected the same references in the same order"
    elif not np.all(moved.queries.duration_s > 0):
        problem = "found a video without a duration, expected seconds above 0 for each"
    else:
        by_start, by_end = moved.start_s - original.start_s, moved.end_s - original.end_s
        first = np.repeat(by_start[original.offsets[:-1]], np.diff(original.offsets))
        differs = np.fmax(np.abs(by_start - first), np.abs(by_end - first)) > SAME_S
        differs |= np.isnan(original.start_s) != np.isnan(moved.start_s)
        if not differs.any():
            return replace(moved, dataset=original.dataset, split=original.split)
        query_id = original.query_id[np.flatnonzero(differs)[0]]
        problem = f"query {query_id!r}: start and end of its moments move by different seconds, expected the same"
    raise InputError(problem, path=path, hint="'truemoment features change' writes such a folder")


FROM_START, OF_VIDEO, FROM_END = GUESSES = (
    "at their seconds from the start",
    "at their share of the video",
    "at their seconds from the end",
)
"""Where the answers of a method that does not see the moments may stay."""


class PlacedAnswers(NamedTuple):
    """The answers to the original videos, placed in the changed ones and cut to these.

    Parameters
    ----------
    following
        Moved as the reference is.
    staying
        As a guess stays, by :data:`GUESSES`.
    has_moved : (Q,)
        Whether the moment or the duration of the video is another, by query of the annotations.
    """

    following: Predictions
    staying: Mapping[str, Predictions]
    has_moved: Bools


def place_answers(original: Annotations, moved: Annotations, answers: Predictions) -> PlacedAnswers:
    """Place answers in changed videos; those to other queries stay as they are.

    Examples
    --------
    >>> before = Annotations.from_rows([("v#0", "v", 40.0, "a door opens", 10.0, 20.0)])
    >>> after = Annotations.from_rows([("v#0", "v", 60.0, "a door opens", 15.0, 25.0)])
    >>> placed = place_answers(before, after, Predictions.from_lists({"v#0": [(10.0, 20.0)]}))
    >>> [(float(p.start_s[0]), float(p.end_s[0])) for p in (placed.following, *placed.staying.values())]
    [(15.0, 25.0), (10.0, 20.0), (15.0, 30.0), (30.0, 40.0)]
    """
    shift_s = (moved.start_s - original.start_s)[original.offsets[:-1]]
    before_s, after_s = original.queries.duration_s, moved.queries.duration_s
    place = {query_id: q for q, query_id in enumerate(original.queries.query_id.tolist())}
    q = np.array([place.get(query_id, len(place)) for query_id in answers.query_id.tolist()], dtype=np.int64)
    q = np.repeat(q, answers.lengths)

    def at(by_query: Floats, shift: Floats) -> Predictions:
        scale, by, longest = (
            np.append(values, other)[q] for values, other in ((by_query, 1.0), (shift, 0.0), (after_s, np.inf))
        )
        start_s, end_s = (np.clip(times * scale + by, 0, longest) for times in (answers.start_s, answers.end_s))
        return replace(answers, start_s=start_s, end_s=end_s)

    whole, still = np.ones_like(shift_s), np.zeros_like(shift_s)
    guesses = at(whole, still), at(after_s / before_s, still), at(whole, after_s - before_s)
    has_moved = (np.abs(shift_s) > SAME_S) | (np.abs(after_s - before_s) > SAME_S)
    return PlacedAnswers(at(whole, shift_s), dict(zip(GUESSES, guesses, strict=True)), has_moved)


class Following(NamedTuple):
    """Whether first answers move with the moment, or stay where one of :data:`GUESSES` has them.

    Parameters
    ----------
    follows, stays, apart : (Q,)
        Whether the answer lies within a tenth of the video of either place, start and end together; and whether the
        query counts: it is answered, and the two places are a fifth of the video apart.
    """

    follows: Bools
    stays: Bools
    apart: Bools


def following(moved: Moved, placed: PlacedAnswers, guess: str, ranking: Ranking) -> Following:
    """Compare the answers on changed videos with the two places of those on the original videos."""

    def off(first: Predictions, second: Predictions) -> Floats:
        displacement = compare_shuffled(moved.annotations, first, second, ranking=ranking)
        return displacement.d_start + displacement.d_end

    stay = placed.staying[guess]
    apart = off(placed.following, stay) >= 2 * SLIGHT_NORM  # NaN is not
    follows, stays = (off(at, moved.predictions) < SLIGHT_NORM for at in (placed.following, stay))
    answered = np.isfinite(off(stay, moved.predictions))
    return Following(follows & apart, stays & apart, apart & answered)
