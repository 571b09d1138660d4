"""The report on several annotators: their agreement, their scores, and the conclusions that they confirm."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from truemoment.base.boundary.documents import Measured
from truemoment.base.intervals import Floats
from truemoment.baselines.floors import headline_of
from truemoment.evaluation.agreement import Alpha, agreement_by_query
from truemoment.evaluation.head import head
from truemoment.evaluation.protocols import Protocol
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import LEVEL
from truemoment.report.model import Cell, Paragraph, Report, Section, Table
from truemoment.report.words import UNDEFINED, counted, listed, low_to_high, number, percent, points
from truemoment.studies.compare.report import FEW_VIDEOS
from truemoment.studies.humans.answer_agreement import answers_document, answers_table
from truemoment.studies.humans.conclusions import ENOUGH_DRAWS, Conclusion
from truemoment.studies.humans.scores import Reference
from truemoment.studies.humans.study import AnnotatedFiles, HumanStudy, Performance
from truemoment.studies.humans.timelines import timeline_drawings

SCHEMA = "truemoment/humans/1"

COARSE = 0.05
"""Smallest share of identical pairs that is reported: whether they count then changes figures."""

N_TIMELINES = 6
"""Default number of queries that are drawn."""

TIMELINES_TITLE = "Queries on which annotators agree least"

# ------------------------------------------------------------------------------------------------ document


def document(files: AnnotatedFiles) -> dict[str, Any]:
    """Return the JSON document of a study of annotators."""
    study, official = files.study, files.study.official
    return {
        **head(SCHEMA, files.scores),
        "official": None
        if official is None
        else {"dataset": official.dataset, "split": official.split, "sha256": official.sha256},
        "annotators": {
            "queries_by_count": dict(sorted(Counter(study.annotators.counts.tolist()).items())),
            "left_out": study.annotators.left_out,
            "without_official": files.n_without_official,
            "identical_pairs": identical_share(study),
            "duplicates": study.duplicates,
        },
        "agreement": _agreement_document(files),
        "answers": None if files.presence is None else answers_document(files.presence),
        "humans": [
            {
                "way": performance.reference,
                "person": performance.person,
                "rank": performance.rank or None,
                "measures": _measures(performance.scores, performance.ci95, performance.draws),
            }
            for performance in study.performances
        ],
        "systems": [
            {
                "system": name,
                "predictions": files.predictions[name][0] if name in files.predictions else None,
                "match": files.predictions[name][1].as_dict() if name in files.predictions else None,
                "against": [
                    {"way": reference, "measures": _measures(scores)} for reference, scores in system.scores.items()
                ],
            }
            for name, system in study.systems.items()
        ],
        "conclusions": [_conclusion_document(conclusion) for conclusion in study.conclusions],
        "level": LEVEL,
        "draws": files.draws,
        "resamples": files.resamples,
        "permutations": files.permutations,
        "seed": files.seed,
        "notes": notes(files),
    }


def _agreement_document(files: AnnotatedFiles) -> dict[str, Any]:
    agreement, overlap, annotators = files.agreement, files.agreement.overlap, files.study.annotators
    by_query = zip(
        annotators.annotations.queries.query_id, annotators.counts, agreement_by_query(annotators), strict=True
    )
    return {
        "pairwise_iou": {
            "mean": _share(overlap.mean, overlap.mean_ci95),
            "at_least_half": _share(overlap.at_least_half, overlap.at_least_half_ci95),
            "disjoint": _share(overlap.disjoint, overlap.disjoint_ci95),
            "n_pairs": overlap.n_pairs,
        },
        "alpha": {
            "moment": _alpha_document(agreement.moments),
            "start": _alpha_document(agreement.starts),
            "end": _alpha_document(agreement.ends),
        },
        "by_query": [
            {"query_id": query_id, "annotators": count, "mean": mean, "at_least_half": half, "disjoint": disjoint}
            for query_id, count, (mean, half, disjoint) in by_query
        ],
    }


def _share(value: float, ci95: Sequence[float]) -> dict[str, Any]:
    return {"value": value, "unit": "fraction", **({"ci95": ci95} if np.isfinite(ci95).all() else {})}


def _alpha_document(alpha: Alpha | None) -> dict[str, Any]:
    if alpha is None:
        return {"value": None, "why": "durations are not known, and alpha compares shares of videos"}
    ci95 = alpha.ci95 if np.isfinite(alpha.ci95).all() else None
    figure = Measured(alpha.value, why="all moments are equal, so that chance agrees too", ci95=ci95, unit="")
    return {
        **figure.as_dict(),
        "observed": alpha.observed,
        "expected": alpha.expected,
        "n_moments": alpha.n_moments,
        "n_against": alpha.n_against,
    }


def _measures(scores: Scores, ci95: Floats | None = None, draws: Floats | None = None) -> list[dict[str, Any]]:
    entries = []
    for m, figure in enumerate(scores.measured(ci95)):
        entry = figure.as_dict()
        entry.pop("on_threshold", None)
        if draws is not None:
            entry["mean_of_draws"] = draws[:, m].mean()
            entry["spread"] = draws[:, m].std(ddof=1) if len(draws) > 1 else None
        entries.append(entry)
    return entries


def _conclusion_document(conclusion: Conclusion) -> dict[str, Any]:
    return {
        "measure": conclusion.measure,
        "systems": [conclusion.first, conclusion.second],
        "ways": [
            {
                "way": pair.reference,
                "difference": pair.difference,
                "unit": "fraction",
                "p_holm": pair.p_holm,
                "significant": None if math.isnan(pair.p_holm) else pair.significant,
            }
            for pair in conclusion.differences
        ],
        "drawn": {
            "mean": conclusion.draws.mean(),
            "lowest": conclusion.draws.min(),
            "highest": conclusion.draws.max(),
            "alike": conclusion.share_alike,
        },
        "fate": conclusion.confirmation,
        "verdict": in_words(conclusion),
    }


# ------------------------------------------------------------------------------------------------- verdicts


def in_words(conclusion: Conclusion) -> str:
    """Return whether annotators confirm a conclusion; what is not significant is never called equal.

    Examples
    --------
    >>> from truemoment.studies.humans.conclusions import PairDifference
    >>> values = [("official", 0.05, 0.001), ("nearest", 0.04, 0.01), ("representative", 0.01, 0.2)]
    >>> differences = tuple(PairDifference(*value) for value in values)
    >>> in_words(Conclusion("mIoU", "a", "b", differences, np.array([0.01]), np.array([0.5])))
    'not confirmed: a leads b against the official references, but not significantly against the representative annotator or drawn annotators (only in 0 % of draws)'
    """  # noqa: E501 - one line of output
    base, *others = conclusion.differences
    if math.isnan(base.difference):
        return "undefined"
    if not base.significant:
        return (
            f"nothing to confirm: {points(base.difference, sign='+')} points against {_NAMES[base.reference]}, not "
            "significant, which does not show that they are equal"
        )
    leader, follower = (
        (conclusion.first, conclusion.second) if base.difference > 0 else (conclusion.second, conclusion.first)
    )
    claim = f"{leader} leads {follower} against {_NAMES[base.reference]}"
    if conclusion.confirmation == "survives":
        return f"survives: {claim} and against the annotators"
    opposite = [pair for pair in others if pair.difference * base.difference < 0]
    contrary = [_NAMES[pair.reference] for pair in opposite if pair.significant]
    if contrary:
        return f"contradicted: {claim}, {follower} leads against {listed(contrary)}"
    unconfirmed = [_NAMES[pair.reference] for pair in others if not pair.significant]
    if conclusion.share_alike < ENOUGH_DRAWS:
        unconfirmed.append(f"drawn annotators (only in {percent(conclusion.share_alike)} of draws)")
    against = listed([_NAMES[pair.reference] for pair in opposite])
    tail = f"; against {against} {follower} leads, not significantly" if opposite else ""
    return f"not confirmed: {claim}, but not significantly against {listed(unconfirmed, 'or')}{tail}"


_NAMES: Mapping[Reference, str] = {
    "official": "the official references",
    "nearest": "the nearest annotator",
    "representative": "the representative annotator",
    "others-representative": "the representative of the others",
    "another": "one annotator",
}

# --------------------------------------------------------------------------------------------------- report


def report(files: AnnotatedFiles, *, n_timelines: int = N_TIMELINES) -> Report:
    """Return the report of a study, with figures of the `n_timelines` queries on which annotators agree least."""
    study, scores = files.study, files.scores
    drawings = timeline_drawings(files, n_timelines)
    tables = [agreement_table(files), scores_table(study)]
    explanations = []
    if study.conclusions:
        tables.append(conclusions_table(study.conclusions))
        explanations.append(
            f"*: significant at {100 * LEVEL:g} % (paired by video, corrected over pairs); drawn: lowest to highest "
            "difference with one annotator a query; alike: significant draws with the same sign"
        )
    if files.presence is not None:
        tables.insert(0, answers_table(files.presence))
    hashes = [(source["path"], source["sha256"]) for source, _ in files.predictions.values()]
    return Report(
        title=f"Annotators of {scores.dataset}, {scores.split}",
        facts=facts(files),
        answer=tuple(map(Paragraph, system_sentences(study))),
        sections=(
            Section("annotators", "Annotators", tuple(tables)),
            *([Section("timelines", TIMELINES_TITLE, tuple(drawings))] if drawings else []),
        ),
        notes=(*notes(files), *explanations),
        signature=(
            f"{scores.signature()}|duplicates:{study.duplicates}|draws:{files.draws}"
            f"|intervals:{files.resamples} resamples of videos|seed:{files.seed}"
        ),
        hashes=(*hashes, ("annotations", scores.annotations_sha256)),
    )


def _title_of(reference: Reference, study: HumanStudy) -> str:
    """Return the name of references; official ones have that of their split."""
    if reference == "official" and study.official is not None:
        return f"{study.official.dataset}/{study.official.split}"
    return _NAMES[reference]


def system_sentences(study: HumanStudy) -> list[str]:
    """Return a sentence per system: its figure against the first references, beside that of a random annotator."""
    measure = study.measures[headline_of(study.measures)]
    sentences = []
    for name, system in study.systems.items():
        reference, scores = next(iter(system.scores.items()))
        people = study.ceiling(reference)
        at = people.scores.measures.index(measure)
        own, person, *ci95 = _percents(
            np.array([scores.value(measure), people.scores.value(measure), *people.ci95[at]]), study.protocol
        )
        sentences.append(
            f"{name} scores {own} at {measure} against {_title_of(reference, study)}; a random annotator scores "
            f"{person} (95 % interval {ci95[0]} to {ci95[1]})."
        )
    return sentences


def facts(files: AnnotatedFiles) -> tuple[tuple[str, str], ...]:
    """Return the data and the files of the study."""
    study, scores = files.study, files.scores
    counts = sorted(Counter(study.annotators.counts.tolist()).items(), reverse=True)
    by_count = "".join(f", {n:,} with {counted(count, 'annotator')}" for count, n in counts)
    size = f"{counted(len(scores), 'query', 'queries')}, {counted(scores.n_videos, 'video')}"
    rows = [("data", f"{scores.dataset}/{scores.split}: {size}{by_count}")]
    if study.official is not None:
        rows.append(("official references", f"{study.official.dataset}/{study.official.split}"))
    for name, (source, match) in files.predictions.items():
        rows.append((name, f"{source['path']}: {match.format}; {counted(match.rows, 'row')}"))
    return tuple(rows)


def agreement_table(files: AnnotatedFiles) -> Table:
    """Return the table of agreement."""
    agreement, overlap = files.agreement, files.agreement.overlap
    rows = [
        ("mean IoU of two annotators", number(overlap.mean, 3), low_to_high(overlap.mean_ci95, 3)),
        ("pairs with IoU of 0.5 or more, %", *_percent_row(overlap.at_least_half, overlap.at_least_half_ci95)),
        ("pairs that do not overlap, %", *_percent_row(overlap.disjoint, overlap.disjoint_ci95)),
    ]
    for name, alpha in (("moments", agreement.moments), ("starts", agreement.starts), ("ends", agreement.ends)):
        if alpha is not None:
            rows.append((f"Krippendorff's alpha, {name}", number(alpha.value, 3), low_to_high(alpha.ci95, 3)))
    cells = tuple((Cell(label), Cell(value), Cell(interval or UNDEFINED)) for label, value, interval in rows)
    return Table("Agreement of annotators", ("", "value", "95 % interval"), (("", cells),), text_columns=(0, 2))


def _percent_row(share: float, ci95: Sequence[float]) -> tuple[str, str]:
    return number(100 * share, 1), low_to_high(ci95, 1, times=100)


def scores_table(study: HumanStudy) -> Table:
    """Return the table of scores by reference; percent as the protocol prints them."""
    groups = []
    for reference in dict.fromkeys(performance.reference for performance in study.performances):
        rows = [
            row
            for performance in study.performances
            if performance.reference == reference
            for row in _performance_rows(performance, study.protocol)
        ]
        rows += [
            _row(name, *_figures(system.scores[reference], study.protocol))
            for name, system in study.systems.items()
            if reference in system.scores
        ]
        groups.append((_title_of(reference, study).removeprefix("the "), tuple(rows)))
    headings = ("who", *(str(measure) for measure in study.measures), "queries")
    return Table("Measures in percent, by reference", headings, tuple(groups))


def _row(*texts: str) -> tuple[Cell, ...]:
    return tuple(map(Cell, texts))


def _performance_rows(performance: Performance, protocol: Protocol) -> list[tuple[Cell, ...]]:
    """Return a row of figures; with interval for one annotator and the consensus; with the deviation over draws."""
    rows = [_row(_who(performance), *_figures(performance.scores, protocol))]
    if performance.person in ("random", "consensus"):
        low, high = performance.ci95.T
        rows += [_row("95 % interval, from", *_percents(low, protocol), ""), _row("to", *_percents(high, protocol), "")]
    if performance.draws is not None and len(performance.draws) > 1:
        spread = _percents(performance.draws.std(axis=0, ddof=1), protocol)
        rows.append(_row(f"deviation over {len(performance.draws)} draws", *spread, ""))
    return rows


def _who(performance: Performance) -> str:
    if performance.person == "random":
        return "random annotator"
    if performance.person == "consensus":
        return "consensus of the others"
    ordinal = {1: "1st", 2: "2nd", 3: "3rd"}.get(performance.rank, f"{performance.rank}th")
    if performance.person == "by agreement":
        return f"{ordinal} by agreement"
    return f"{'' if performance.rank == 1 else f'{ordinal} '}best for the reference"


def _figures(scores: Scores, protocol: Protocol) -> list[str]:
    """Return figures in percent, and the number of queries."""
    values = np.array([scores.value(measure) for measure in scores.measures])
    return [*_percents(values, protocol), f"{int((scores.weight > 0).any(axis=0).sum()):,}"]


def _percents(values: Floats, protocol: Protocol) -> list[str]:
    return [UNDEFINED if math.isnan(value) else protocol.percent(value) for value in values.tolist()]


def conclusions_table(conclusions: Sequence[Conclusion]) -> Table:
    """Return the table of conclusions: differences in points, marked where significant."""
    against = [pair.reference for pair in conclusions[0].differences]
    groups: dict[str, list[tuple[Cell, ...]]] = {}
    for conclusion in conclusions:
        differences = [
            Cell(points(pair.difference, sign="+"), marked=pair.significant) for pair in conclusion.differences
        ]
        interval = low_to_high((conclusion.draws.min(), conclusion.draws.max()), 1, times=100, sign="+") or UNDEFINED
        texts = _row(interval, number(100 * conclusion.share_alike, 0), conclusion.confirmation)
        groups.setdefault(conclusion.measure, []).append(
            (Cell(f"{conclusion.first} - {conclusion.second}"), *differences, *texts)
        )
    headings = ("systems", *against, "drawn", "alike, %", "verdict")
    caption = "Differences between systems, in percentage points"
    rows = tuple((measure, tuple(of_measure)) for measure, of_measure in groups.items())
    return Table(caption, headings, rows, text_columns=(0, len(headings) - 1))


def notes(files: AnnotatedFiles) -> list[str]:
    """Return remarks on the figures."""
    study = files.study
    annotators = study.annotators
    lines = [f"{_queries(count)} left out: {reason}" for reason, count in annotators.left_out.items()]
    if files.n_without_official and study.official is not None:
        lines.append(
            f"{_queries(files.n_without_official)} left out: {study.official.dataset}/{study.official.split} has no "
            "moment for them"
        )
    n_videos = annotators.annotations.n_videos
    if n_videos < FEW_VIDEOS:
        lines.append(f"{counted(n_videos, 'video')}: intervals from so few are too narrow, or undefined")
    n_before = int(annotators.before_video.sum())
    if n_before:
        clips = study.protocol.clip_references or study.protocol.clip_predictions
        lines.append(
            f"{counted(n_before, 'query has', 'queries have')} a moment of an annotator that begins before 0 s; "
            + ("the protocol clips it" if clips else "it is measured as it was marked, where no system can answer")
        )
    identical = identical_share(study)
    if identical >= COARSE:
        lines.append(
            f"{percent(identical)} of all pairs of annotators marked the same moment; --duplicates "
            f"decides whether these count (here: {study.duplicates})"
        )
    for name, system in study.systems.items():
        lines += [
            f"{name}: {counted(count, 'query', 'queries')} with {condition}"
            for condition, count in system.scores["nearest"].touched.items()
        ]
    alpha = files.agreement.moments
    if alpha is None:
        lines.append("no alpha: some durations are unknown, and alpha compares shares of videos")
    elif alpha.n_against < alpha.n_moments:
        lines.append(
            f"alpha of moments: chance is estimated from a random sample of {alpha.n_against:,} of "
            f"{alpha.n_moments:,} moments"
        )
    unconfirmed = [conclusion for conclusion in study.conclusions if conclusion.confirmation != "survives"]
    return lines + [
        f"{conclusion.measure}, {conclusion.first} and {conclusion.second}: {in_words(conclusion)}"
        for conclusion in unconfirmed
    ]


def _queries(count: int) -> str:
    return counted(count, "query is", "queries are")


def identical_share(study: HumanStudy) -> float:
    """Return the share of pairs of annotators who marked the same moment."""
    pairs = study.annotators.counts * (study.annotators.counts - 1)
    same = study.annotators.identical().sum(axis=(1, 2)) - study.annotators.counts
    return float(same.sum() / pairs.sum())
