"""Contamination: whether predictions recall the official annotations instead of localising the moments.

A model that has read the annotations of a test split may answer from memory. Three kinds of evidence:

* *exact recall* of official starts, ends and moments, above what the neighbourhood predicts
  (:mod:`truemoment.studies.contamination.exact_recall`), also where answers are rounded to whole seconds;
* *fresh annotations* of the same queries: the same test against them, which nobody can have memorised, and how much
  closer the answers are to the official moments. A method that is trained on the dataset learns how its annotators
  place the ends, and is closer to official moments without any recall: this difference is not in the verdict;
* *probes*: predictions on the same queries in other words (:mod:`truemoment.studies.contamination.probes`). A model
  that looks up the sentence loses its exact answers. The test swaps the labels of both files by video.

A sign is a p-value of at most 0.05 after Holm's correction over all tests of the verdict. No sign is no proof: the
report states which share of recalled moments the test finds. Guide: ``docs/contamination.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from truemoment.base.boundary.files import source_of
from truemoment.base.errors import UsageError
from truemoment.base.intervals import TIE, Bools, Floats, Ints, temporal_iou
from truemoment.base.records import Annotations, Predictions, numbers_of
from truemoment.data.datasets.faults import normalised_sentence
from truemoment.data.formats import MatchReport, Reader, read_predictions
from truemoment.evaluation.uncertainty import LEVEL, DrawSettings, holm, interval95, resample_sums, stream
from truemoment.studies.contamination.exact_recall import (
    CELL_S,
    ROUNDING_S,
    SIDES,
    ExactRecall,
    MomentPairs,
    RoundedRecall,
    Side,
    exact_recall,
    rounded_recall,
)
from truemoment.studies.evaluate.first_answers import FirstAnswers, first_answers

NEAR_S = 0.5
"""Both ends within this are near."""


@dataclass(frozen=True)
class PairedShare:
    """Mean of a quantity in two conditions on the same queries, and their difference with its interval.

    Parameters
    ----------
    p
        p-value by swapping the conditions of each video at random: one-sided, that the first is larger.
    """

    name: str
    first: float
    second: float
    difference: float
    ci95: tuple[float, float]
    p: float


@dataclass(frozen=True)
class FreshEvidence:
    """The same answers against fresh annotations of the queries.

    Parameters
    ----------
    n_queries, n_moments
        Queries with fresh annotations and an answer, and the fresh moments.
    recall
        The test of exact recall against fresh moments, by side; None where there are too few.
    closeness
        Official less fresh: both ends within :data:`NEAR_S`, and IoU.
    """

    dataset: str
    n_queries: int
    n_moments: int
    recall: Mapping[Side, ExactRecall | None]
    closeness: tuple[PairedShare, ...]


@dataclass(frozen=True)
class ProbeEvidence:
    """Predictions on the queries in other words.

    Parameters
    ----------
    n_queries
        Queries with an answer in both files.
    exact
        Share of the answers with both ends exact; its p is in the verdict.
    others
        Share with an IoU of 0.5 or more, and mean IoU.
    same
        Share of the answers that are the same in both files.
    """

    name: str
    n_queries: int
    exact: PairedShare
    others: tuple[PairedShare, ...]
    same: float


@dataclass(frozen=True, eq=False)
class Contamination:
    """Evidence for recall of official annotations in one prediction file.

    Parameters
    ----------
    n_answered
        Queries with one official moment and an answer.
    recall
        Test of exact recall by side; None where there are too few official times, or they lie on a coarse grid.
    p_holm
        Corrected p-values of the tests of the verdict, by name.
    """

    dataset: str
    split: str
    sha256: str
    n_queries: int
    n_answered: int
    n_several: int
    recall: Mapping[Side, ExactRecall | None]
    rounded: RoundedRecall | None
    fresh: FreshEvidence | None
    probes: tuple[ProbeEvidence, ...]
    p_holm: Mapping[str, float]
    draws: DrawSettings
    source: Mapping[str, str] = field(default_factory=dict)
    match: MatchReport | None = None

    @property
    def signs(self) -> tuple[str, ...]:
        """Names of the tests that find recall."""
        return tuple(name for name, p in self.p_holm.items() if p <= LEVEL)


def detect_contamination(
    official: Annotations,
    predictions: Predictions,
    *,
    fresh: Annotations | None = None,
    probes: Mapping[str, Predictions] | None = None,
    draws: DrawSettings | None = None,
    source: Mapping[str, str] | None = None,
    match: MatchReport | None = None,
) -> Contamination:
    """Test predictions for recall of official annotations.

    Parameters
    ----------
    official
        The annotations that may be memorised. Queries with several moments, or none, are left out.
    fresh
        Other annotations of some of the queries, matched by video and sentence.
    probes
        Predictions for the same query ids with other sentences, by name.
    """
    draws = draws or DrawSettings()
    with_moments = official.with_moments()
    single = with_moments.select_queries(np.diff(with_moments.offsets) == 1)
    answers = first_answers(single, predictions)
    if not answers.answered.any():
        raise UsageError("no query with one official moment has an answer")
    pairs = pairs_of(single, answers)
    resamples = draws.resamples
    recall = {
        side: exact_recall(pairs, side, stream(draws.seed, f"recall {side}"), resamples=resamples, level=LEVEL / 4)
        for side in SIDES
    }
    rounded = rounded_recall(pairs, stream(draws.seed, "rounded"), resamples=resamples)
    probe_results = tuple(
        _probe(name, single, pairs, first_answers(single, probe), draws) for name, probe in (probes or {}).items()
    )
    p = {TEST_OF[side]: test.p for side, test in recall.items() if test is not None}
    p |= {} if rounded is None else {"rounded moments": rounded.p}
    p |= {f"probe {probe.name}": probe.exact.p for probe in probe_results if not math.isnan(probe.exact.p)}
    return Contamination(
        dataset=official.dataset,
        split=official.split,
        sha256=official.sha256,
        n_queries=official.n_queries,
        n_answered=int(answers.answered.sum()),
        n_several=official.n_queries - single.n_queries,
        recall=recall,
        rounded=rounded,
        fresh=None if fresh is None else _fresh(single, fresh, pairs, draws),
        probes=probe_results,
        p_holm=dict(zip(p, holm(np.array(list(p.values()))).tolist(), strict=True)) if p else {},
        draws=draws,
        source=source or {},
        match=match,
    )


TEST_OF: Mapping[Side, str] = {"start": "starts", "end": "ends", "both": "moments"}


def detect_in_file(
    official: Annotations,
    path: Path,
    *,
    fresh: Annotations | None = None,
    probes: Mapping[str, Path] | None = None,
    draws: DrawSettings | None = None,
    read: Reader = read_predictions,
    progress: bool = False,
) -> Contamination:
    """Read a prediction file, and those of probes, and test them for recall of official annotations."""
    predictions, match = read(path, official, progress=progress)
    of_probes = {name: read(file, official, progress=progress)[0] for name, file in (probes or {}).items()}
    return detect_contamination(
        official, predictions, fresh=fresh, probes=of_probes, draws=draws, source=source_of(path), match=match
    )


def pairs_of(official: Annotations, answers: FirstAnswers) -> MomentPairs:
    """Return pairs of answers and official moments; each query has one."""
    queries = official.queries
    return MomentPairs(
        queries.video_id.tolist(), queries.duration_s, answers.start_s, answers.end_s, official.start_s, official.end_s
    )


# ---------------------------------------------------------------------------------------------- fresh


def _fresh(official: Annotations, fresh: Annotations, pairs: MomentPairs, draws: DrawSettings) -> FreshEvidence:
    fresh = fresh.with_moments()
    keys = (
        zip(annotations.queries.video_id, map(normalised_sentence, annotations.queries.sentence), strict=True)
        for annotations in (official, fresh)
    )
    official_keys, fresh_keys = keys
    row_of = {key: row for row, key in enumerate(official_keys)}
    rows = np.array([row_of.get(key, -1) for key in fresh_keys], dtype=np.int64)
    is_known = rows >= 0
    is_known[is_known] = ~np.isnan(pairs.answer_start_s[rows[is_known]])
    if not is_known.any():
        raise UsageError(
            f"{fresh.dataset}/{fresh.split} annotates none of the answered queries of {official.dataset}/"
            f"{official.split}, by video and sentence"
        )
    moments = fresh.select_queries(is_known)
    query = moments.query_of_row
    of_official = rows[is_known]
    row = of_official[query]
    fresh_pairs = MomentPairs(
        np.asarray(pairs.video_id, dtype=object)[row].tolist(),
        pairs.duration_s[row],
        pairs.answer_start_s[row],
        pairs.answer_end_s[row],
        moments.start_s,
        moments.end_s,
    )
    recall = {
        side: exact_recall(fresh_pairs, side, stream(draws.seed, f"fresh {side}"), resamples=draws.resamples)
        for side in SIDES
    }
    video = numbers_of(np.asarray(pairs.video_id, dtype=object)[of_official])
    weights = np.bincount(query)

    def paired(name: str, quantity: _Quantity) -> PairedShare:
        first = quantity(pairs)[of_official]
        second = np.bincount(query, quantity(fresh_pairs)) / weights
        return _paired(name, first, second, video, draws)

    closeness = tuple(paired(name, quantity) for name, quantity in (("both ends within 0.5 s", _near), ("IoU", _iou)))
    return FreshEvidence(f"{fresh.dataset}/{fresh.split}", int(is_known.sum()), len(moments), recall, closeness)


# ---------------------------------------------------------------------------------------------- probes


def _probe(
    name: str, official: Annotations, pairs: MomentPairs, probe: FirstAnswers, draws: DrawSettings
) -> ProbeEvidence:
    in_both = ~np.isnan(pairs.answer_start_s) & probe.answered
    if not in_both.any():
        raise UsageError(f"probe {name}: no query has an answer in both files")
    probe_pairs = pairs_of(official, probe)
    video = numbers_of(np.asarray(pairs.video_id, dtype=object)[in_both])
    counts = pairs.mask("both")[in_both]

    def paired(label: str, quantity: _Quantity, rows: Bools) -> PairedShare:
        return _paired(label, quantity(pairs)[in_both][rows], quantity(probe_pairs)[in_both][rows], video[rows], draws)

    is_same = (np.abs(pairs.answer_start_s - probe.start_s) <= CELL_S / 2) & (
        np.abs(pairs.answer_end_s - probe.end_s) <= CELL_S / 2
    )
    all_rows = np.ones_like(counts)
    return ProbeEvidence(
        name=name,
        n_queries=int(in_both.sum()),
        exact=paired("exact moments", lambda pairs: _within(pairs, CELL_S / 2), counts),
        others=(
            paired("IoU of 0.5 or more", lambda pairs: (_iou(pairs) >= 0.5 - TIE).astype(np.float64), all_rows),
            paired("IoU", _iou, all_rows),
        ),
        same=float(is_same[in_both].mean()),
    )


# ------------------------------------------------------------------------------------- paired quantities

_Quantity = Callable[[MomentPairs], Floats]


def _near(pairs: MomentPairs) -> Floats:
    return _within(pairs, NEAR_S)


def _within(pairs: MomentPairs, bound_s: float) -> Floats:
    differences = [difference_s <= bound_s + ROUNDING_S for difference_s in pairs.differences_s]
    return np.asarray(np.all(differences, axis=0), dtype=np.float64)


def _iou(pairs: MomentPairs) -> Floats:
    return np.asarray(temporal_iou(*pairs.answers_s, pairs.official_start_s, pairs.official_end_s))


def _paired(name: str, first: Floats, second: Floats, video: Ints, draws: DrawSettings) -> PairedShare:
    """Compare two conditions (N,) of the same queries, with intervals and swaps by video."""
    video = np.unique(video, return_inverse=True)[1]
    n_videos = int(video.max(initial=-1)) + 1
    difference = float(np.mean(first - second)) if n_videos else math.nan
    if n_videos < 2:
        return PairedShare(name, *_means(first, second), difference, (math.nan, math.nan), math.nan)
    sums = np.column_stack([np.bincount(video, first - second), np.bincount(video)]).astype(np.float64)
    draws_of_sums = resample_sums(sums, stream(draws.seed, f"paired {name}"), resamples=draws.resamples)
    low, high = interval95(draws_of_sums[:, 0] / draws_of_sums[:, 1]).tolist()
    moving = sums[np.abs(sums[:, 0]) > ROUNDING_S, 0]
    signs = stream(draws.seed, f"swaps {name}").integers(0, 2, (draws.permutations, len(moving)), dtype=np.int8)
    at_least = int(np.sum((2.0 * signs - 1.0) @ moving >= moving.sum() - ROUNDING_S))
    p = (1 + at_least) / (1 + draws.permutations)
    return PairedShare(name, *_means(first, second), difference, (low, high), p)


def _means(first: Floats, second: Floats) -> tuple[float, float]:
    return (float(first.mean()), float(second.mean())) if len(first) else (math.nan, math.nan)
