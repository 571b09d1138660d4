"""The report on several annotators: a JSON document for programs, tables and a few lines for people."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truemoment.diagnosis.agreement import Alpha, PairwiseIoU, agreement_by_query
from truemoment.diagnosis.conclusions import ENOUGH_DRAWS, Conclusion, Held
from truemoment.diagnosis.human_study import HumanStudy, Performance
from truemoment.diagnosis.humans import Way
from truemoment.intervals import Floats
from truemoment.io import MatchReport
from truemoment.protocols import Protocol
from truemoment.reports.comparison import FEW_VIDEOS
from truemoment.reports.head import head
from truemoment.reports.render.tabular import TableStyle, escaped, render
from truemoment.scores import Scores
from truemoment.uncertainty import LEVEL

SCHEMA = "truemoment/humans/1"

_INDENT = "\ue000"
"""A private character that stands for a blank at the beginning of a cell, which would be cut off."""

COARSE = 0.05
"""Share of identical pairs from which on it is said: what becomes of them then moves figures."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """How far annotators agree; alphas are None where durations are not known."""

    overlap: PairwiseIoU
    moments: Alpha | None
    starts: Alpha | None
    ends: Alpha | None


@dataclass(frozen=True, eq=False)
class Humans:
    """All there is to say of several annotators.

    Parameters
    ----------
    study, agreement
        What was found.
    predictions
        Of each system by name, the file's path and hash, and how its rows found their queries.
    n_without_official
        Queries of several annotators that the official references lack; left out.
    draws, resamples, permutations, seed
        Of the random annotator, of intervals, of tests.
    """

    study: HumanStudy
    agreement: Agreement
    predictions: Mapping[str, tuple[dict[str, str], MatchReport]]
    n_without_official: int
    draws: int
    resamples: int
    permutations: int
    seed: int

    @property
    def scores(self) -> Scores:
        """Scores whose head stands for all: of the annotations, by the protocol as asked for."""
        return replace(self.study.ceiling("nearest").scores, protocol=self.study.protocol)


# ------------------------------------------------------------------------------------------------ document


def document(humans: Humans) -> dict[str, Any]:
    """Return the JSON document."""
    study, overlap = humans.study, humans.agreement.overlap
    official = study.official
    return {
        **head(SCHEMA, humans.scores),
        "official": None
        if official is None
        else {"dataset": official.dataset, "split": official.split, "sha256": official.sha256},
        "annotators": {
            "queries_by_count": {
                str(count): n for count, n in sorted(Counter(study.annotators.counts.tolist()).items())
            },
            "left_out": dict(study.annotators.left_out),
            "without_official": humans.n_without_official,
            "identical_pairs": _identical_share(study),
            "duplicates": study.duplicates,
        },
        "agreement": {
            "pairwise_iou": {
                "mean": _valued(overlap.mean, overlap.mean_ci95),
                "at_least_half": _valued(overlap.at_least_half, overlap.at_least_half_ci95),
                "disjoint": _valued(overlap.disjoint, overlap.disjoint_ci95),
                "n_pairs": overlap.n_pairs,
            },
            "alpha": {
                name: _alpha_document(alpha)
                for name, alpha in (
                    ("moment", humans.agreement.moments),
                    ("start", humans.agreement.starts),
                    ("end", humans.agreement.ends),
                )
            },
            "by_query": [
                {"query_id": query_id, "annotators": count, "mean": mean, "at_least_half": half, "disjoint": disjoint}
                for query_id, count, (mean, half, disjoint) in zip(
                    study.annotators.annotations.queries.query_id,
                    study.annotators.counts.tolist(),
                    agreement_by_query(study.annotators).tolist(),
                    strict=True,
                )
            ],
        },
        "humans": [_performance_document(of) for of in study.performances],
        "systems": [
            {
                "system": name,
                "predictions": humans.predictions[name][0] if name in humans.predictions else None,
                "match": humans.predictions[name][1].as_dict() if name in humans.predictions else None,
                "against": [{"way": way, "measures": _measures(scores)} for way, scores in of.ways.items()],
            }
            for name, of in study.systems.items()
        ],
        "conclusions": [_conclusion_document(of) for of in study.conclusions],
        "level": LEVEL,
        "draws": humans.draws,
        "resamples": humans.resamples,
        "permutations": humans.permutations,
        "seed": humans.seed,
        "notes": notes(humans),
    }


def _by_count(study: HumanStudy) -> list[tuple[int, int]]:
    """How many queries have how many annotators, most annotators first."""
    return sorted(Counter(study.annotators.counts.tolist()).items(), reverse=True)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _valued(value: float, ci95: Sequence[float]) -> dict[str, Any]:
    entry: dict[str, Any] = {"value": _number(value), "unit": "fraction"}
    if np.isfinite(ci95).all():
        entry["ci95"] = list(ci95)
    return entry


def _alpha_document(alpha: Alpha | None) -> dict[str, Any]:
    if alpha is None:
        return {"value": None, "why": "durations are not known, and alpha compares shares of videos"}
    entry: dict[str, Any] = {"value": _number(alpha.value)}
    if math.isnan(alpha.value):
        entry["why"] = "all moments are one, so that chance agrees, too"
    if np.isfinite(alpha.ci95).all():
        entry["ci95"] = list(alpha.ci95)
    return entry | {
        "observed": alpha.observed,
        "expected": alpha.expected,
        "n_moments": alpha.n_moments,
        "n_against": alpha.n_against,
    }


def _measures(scores: Scores, ci95: Floats | None = None, drawn: Floats | None = None) -> list[dict[str, Any]]:
    entries = []
    for m, figure in enumerate(scores.measured(ci95)):
        entry: dict[str, Any] = {"measure": figure.measure, "value": figure.value, "unit": "fraction"}
        if figure.value is None:
            entry["why"] = figure.why
        if figure.ci95 is not None:
            entry["ci95"] = list(figure.ci95)
        if drawn is not None:
            entry["mean_of_draws"] = _number(float(drawn[:, m].mean()))
            entry["spread"] = _number(float(drawn[:, m].std(ddof=1))) if len(drawn) > 1 else None
        entry |= {"n_queries": figure.n_queries, "n_videos": figure.n_videos, "signature": figure.signature}
        entries.append(entry)
    return entries


def _performance_document(of: Performance) -> dict[str, Any]:
    return {
        "way": of.way,
        "person": of.person,
        "rank": of.rank or None,
        "measures": _measures(of.scores, of.ci95, of.drawn),
    }


def _conclusion_document(of: Conclusion) -> dict[str, Any]:
    return {
        "measure": of.measure,
        "systems": [of.first, of.second],
        "ways": [
            {
                "way": held.way,
                "difference": _number(held.difference),
                "unit": "fraction",
                "p_holm": _number(held.p_holm),
                "significant": None if math.isnan(held.p_holm) else held.significant,
            }
            for held in of.ways
        ],
        "drawn": {
            "mean": _number(float(of.drawn.mean())),
            "lowest": _number(float(of.drawn.min())),
            "highest": _number(float(of.drawn.max())),
            "alike": of.drawn_alike,
        },
        "fate": of.fate,
        "verdict": in_words(of),
    }


# ------------------------------------------------------------------------------------------------- verdicts


def in_words(of: Conclusion) -> str:
    """Say what becomes of a conclusion; what is not significant is never called equal.

    Examples
    --------
    >>> import numpy as np
    >>> ways = (Held("official", 0.05, 0.001), Held("nearest", 0.04, 0.01), Held("representative", 0.01, 0.2))
    >>> in_words(Conclusion("mIoU", "a", "b", ways, np.array([0.01]), np.array([0.5])))
    'not confirmed: a leads b under the official references, but not significantly under the representative, drawn annotators (in 0 % of draws only)'
    """  # noqa: E501 - one line of output
    base, *others = of.ways
    if math.isnan(base.difference):
        return "undefined"
    if not base.significant:
        return (
            f"nothing to confirm: {_points(base.difference)} points under {_UNDER[base.way]}, not significant, which "
            "does not make them equal"
        )
    ahead, behind = (of.first, of.second) if base.difference > 0 else (of.second, of.first)
    claim = f"{ahead} leads {behind} under {_UNDER[base.way]}"
    if of.fate == "survives":
        return f"survives: {claim} and under every way of referring to the annotators"
    turned = [held for held in others if held.significant and held.difference * base.difference < 0]
    if turned:
        return f"contradicted: {claim}, {behind} under {_listed(turned)}"
    weak = [held for held in others if not held.significant]
    told = [_UNDER[held.way] for held in weak]
    if of.drawn_alike < ENOUGH_DRAWS:
        told.append(f"drawn annotators (in {100 * of.drawn_alike:.0f} % of draws only)")
    reversed_ = [held for held in weak if held.difference * base.difference < 0]
    tail = f"; under {_listed(reversed_)} {behind} is ahead, not significantly" if reversed_ else ""
    return f"not confirmed: {claim}, but not significantly under {', '.join(told)}{tail}"


_UNDER: Mapping[Way, str] = {
    "official": "the official references",
    "nearest": "the nearest annotator",
    "representative": "the representative",
    "others-representative": "the representative of the others",
    "another": "one annotator",
}


def _listed(held: Sequence[Held]) -> str:
    return ", ".join(_UNDER[of.way] for of in held)


def _points(difference: float) -> str:
    return f"{100 * difference:+.1f}"


# --------------------------------------------------------------------------------------------------- tables


def preamble(humans: Humans) -> list[str]:
    """Say what was looked at."""
    study = humans.study
    scores = humans.scores
    lines = [f"{scores.dataset}/{scores.split}: {len(scores):,} queries, {scores.n_videos:,} videos"]
    lines[0] += "".join(f", {n:,} with {count} annotators" for count, n in _by_count(study))
    if study.official is not None:
        lines.append(f"official references: {study.official.dataset}/{study.official.split}")
    for name, (source, match) in humans.predictions.items():
        lines.append(f"{name}: {source['path']}: {match.format}; {match.rows:,} rows")
    return lines


def agreement_table(humans: Humans, *, style: TableStyle = "plain") -> str:
    """Return the table of agreement."""
    found, overlap = humans.agreement, humans.agreement.overlap
    rows = [
        ["mean IoU of two annotators", f"{overlap.mean:.3f}", _between(overlap.mean_ci95, 1)],
        [
            "pairs with IoU of 0.5 or more, %",
            f"{100 * overlap.at_least_half:.1f}",
            _between(overlap.at_least_half_ci95),
        ],
        ["pairs that do not overlap, %", f"{100 * overlap.disjoint:.1f}", _between(overlap.disjoint_ci95)],
    ]
    alphas = (("moments", found.moments), ("starts", found.starts), ("ends", found.ends))
    rows += [[f"Krippendorff's alpha, {what}", *_alpha_cells(alpha)] for what, alpha in alphas if alpha is not None]
    return render(["agreement", "", "95 % interval"], rows, style=style, numbers=(1,))


def _alpha_cells(alpha: Alpha) -> list[str]:
    return ["-" if math.isnan(alpha.value) else f"{alpha.value:.3f}", _between(alpha.ci95, 1)]


def _between(ci95: Sequence[float], scale: int = 100) -> str:
    if not np.isfinite(ci95).all():
        return "-"
    decimals = 1 if scale == 100 else 3
    return f"{scale * ci95[0]:.{decimals}f} to {scale * ci95[1]:.{decimals}f}"


def table(humans: Humans, *, style: TableStyle = "plain") -> str:
    """Return the table of scores: who, held against whom; percent as the protocol prints them."""
    study = humans.study
    blank = [""] * (len(study.measures) + 1)
    rows: list[list[str]] = []
    for way in dict.fromkeys(of.way for of in study.performances):
        rows.append([f"against {_held_against(humans, way)}", *blank])
        for of in study.performances:
            if of.way == way:
                rows += _performance_rows(of, study.protocol)
        for name, system in study.systems.items():
            if way in system.ways:
                rows.append([f"  {name}", *_cells(system.ways[way], study.protocol)])
    headings = ["%", *(str(measure) for measure in study.measures), "queries"]
    if style != "plain":
        rows = [[escaped(row[0].strip(), style), *row[1:]] for row in rows]
        headings = [escaped(heading, style) for heading in headings]
    else:
        rows = [[row[0].replace("  ", 2 * _INDENT), *row[1:]] for row in rows]
    return render(headings, rows, style=style, numbers=range(1, len(headings))).replace(_INDENT, " ")


def _performance_rows(of: Performance, protocol: Protocol) -> list[list[str]]:
    """A row of figures; of one annotator and of the consensus two of the interval; one of the deviation over draws."""
    rows = [[f"  {_who(of)}", *_cells(of.scores, protocol)]]
    if of.person in ("random", "consensus"):
        low, high = of.ci95.T
        rows += [
            ["    95 % interval, from", *_percents(low, protocol), ""],
            ["    to", *_percents(high, protocol), ""],
        ]
    if of.drawn is not None and len(of.drawn) > 1:
        spread = of.drawn.std(axis=0, ddof=1)
        rows.append([f"    deviation over {len(of.drawn)} draws", *_percents(spread, protocol), ""])
    return rows


def _held_against(humans: Humans, way: Way) -> str:
    official = humans.study.official
    if way == "official" and official is not None:
        return f"{official.dataset}/{official.split}"
    return {
        "nearest": "nearest annotator",
        "representative": "representative",
        "others-representative": "the others' representative",
        "another": "one annotator",
    }[way]


def _who(of: Performance) -> str:
    if of.person == "random":
        return "random annotator"
    if of.person == "consensus":
        return "consensus of the others"
    ordinal = {1: "1st", 2: "2nd", 3: "3rd"}.get(of.rank, f"{of.rank}th")
    if of.person == "by agreement":
        return f"{ordinal} by agreement" + (" (representative)" if of.rank == 1 else "")
    return f"{'' if of.rank == 1 else f'{ordinal} '}best for the reference"


def _cells(scores: Scores, protocol: Protocol) -> list[str]:
    """Figures in percent, and how many queries they are of."""
    values = np.array([scores.value(measure) for measure in scores.measures])
    return [*_percents(values, protocol), f"{int((scores.weight > 0).any(axis=0).sum()):,}"]


def _percents(values: Floats, protocol: Protocol) -> list[str]:
    return ["-" if math.isnan(value) else protocol.percent(value) for value in values.tolist()]


def conclusions_table(humans: Humans, *, style: TableStyle = "plain") -> str:
    """Return the table of conclusions: differences in points of percent, * where significant."""
    of_all = humans.study.conclusions
    ways = [held.way for held in of_all[0].ways]
    headings = ["measure", "less", *(_SHORT[way] for way in ways), "drawn", "alike, %", "verdict"]
    rows = [
        [
            of.measure,
            f"{of.first} - {of.second}",
            *(_starred(held) for held in of.ways),
            f"{_points(float(of.drawn.min()))} to {_points(float(of.drawn.max()))}",
            f"{100 * of.drawn_alike:.0f}",
            of.fate,
        ]
        for of in of_all
    ]
    shown = [[escaped(cell, style) for cell in row] for row in rows]
    return render(headings, shown, style=style, numbers=range(2, len(ways) + 4))


_SHORT: Mapping[Way, str] = {
    "official": "official",
    "nearest": "nearest",
    "representative": "representative",
    "others-representative": "others' representative",
    "another": "one annotator",
}


def _starred(held: Held) -> str:
    return "-" if math.isnan(held.difference) else f"{_points(held.difference)}{'*' if held.significant else ' '}"


def notes(humans: Humans) -> list[str]:
    """Say aloud what a reader of the figures should know."""
    study = humans.study
    said = [
        f"{count:,} {'query is' if count == 1 else 'queries are'} left out: {why}"
        for why, count in study.annotators.left_out.items()
    ]
    if humans.n_without_official and study.official is not None:
        said.append(
            f"{humans.n_without_official:,} queries of several annotators are left out: "
            f"{study.official.dataset}/{study.official.split} has no moment of them"
        )
    n_videos = study.annotators.annotations.n_videos
    if n_videos < FEW_VIDEOS:
        said.append(
            f"{n_videos} video{'' if n_videos == 1 else 's'}: intervals from so few are too narrow, or undefined"
        )
    n_before = int(study.annotators.before_video.sum())
    if n_before:
        clips = study.protocol.clip_references or study.protocol.clip_predictions
        held = "to 0 s, as the protocol clips times" if clips else "as they marked, where no system can answer"
        said.append(
            f"{n_before:,} {'query has' if n_before == 1 else 'queries have'} an annotator's moment that begins before "
            f"0 s: people are held {held}"
        )
    identical = _identical_share(study)
    if identical >= COARSE:
        said.append(
            f"{100 * identical:.0f} % of all pairs of annotators marked the very same moment; "
            f"what becomes of them is --duplicates {study.duplicates}"
        )
    for name, system in study.systems.items():
        silent = system.ways["nearest"].touched
        said += [f"{name}: {count:,} queries with {what}" for what, count in silent.items()]
    sampled = humans.agreement.moments
    if sampled is not None and sampled.n_against < sampled.n_moments:
        said.append(
            f"alpha of moments: chance is that of each moment against a random sample of {sampled.n_against:,} of "
            f"{sampled.n_moments:,}"
        )
    if humans.agreement.moments is None:
        said.append("no alpha: some durations are not known, and it compares shares of videos")
    said += [f"{of.measure}, {of.first} and {of.second}: {in_words(of)}" for of in study.conclusions]
    return said


def _identical_share(study: HumanStudy) -> float:
    """Share of pairs of annotators who marked the very same moment."""
    pairs = study.annotators.counts * (study.annotators.counts - 1)
    same = study.annotators.identical().sum(axis=(1, 2)) - study.annotators.counts
    return float(same.sum() / pairs.sum())


def closing(humans: Humans) -> list[str]:
    """Return the signature that belongs to every figure, and what marks mean."""
    lines = []
    if humans.study.conclusions:
        lines.append(
            f"* significant at {100 * LEVEL:g} % (paired by video, corrected over pairs); drawn: one annotator a "
            "query, lowest to highest difference; alike: draws with the same sign, significant"
        )
    lines.append(
        f"{humans.scores.signature()}|duplicates:{humans.study.duplicates}|draws:{humans.draws}"
        f"|intervals:{humans.resamples} resamples of videos|seed:{humans.seed}"
    )
    return lines
