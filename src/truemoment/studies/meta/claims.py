"""Claims of the AxIoU paper (Togashi et al. 2022) about measures, compared with the same studies here.

Each claim compares figures of the paper's twelve measures. A claim is not examined if its study or one of its measures
is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from truemoment.base.intervals import Bools, Floats
from truemoment.evaluation.measures import Measure
from truemoment.studies.meta.all_studies import Studies

Outcome = Literal["holds", "holds in part", "does not hold", "not looked at"]

RANKS = (1, 5, 10)
THRESHOLDS = ("0.3", "0.5", "0.7")


@dataclass(frozen=True)
class Claim:
    """A claim of the paper and its outcome here.

    Parameters
    ----------
    statement
        The claim, in our words.
    outcome
        Whether it holds here; in part if it holds for some of its cases.
    evidence
        The figures that decide it, or why it is not examined.
    """

    section: str
    statement: str
    outcome: Outcome
    evidence: str


class _Missing(Exception):  # noqa: N818 - no error: a study or measure that was not requested
    """The study or a measure of a claim is missing."""


def claims(studies: Studies) -> tuple[Claim, ...]:
    """Compare every claim with the studies that are available."""
    return tuple(_judge(section, statement, judge, studies) for section, statement, judge in CLAIMS)


def _judge(
    section: str, statement: str, judge: Callable[[Studies], tuple[Sequence[bool], str]], studies: Studies
) -> Claim:
    try:
        cases, evidence = judge(studies)
    except _Missing as missing:
        return Claim(section, statement, "not looked at", str(missing))
    outcome: Outcome = "holds" if all(cases) else "holds in part" if any(cases) else "does not hold"
    if len(cases) > 1:
        evidence = f"{sum(cases)} of {len(cases)} cases; {evidence}"
    return Claim(section, statement, outcome, evidence)


def _rows(measures: Sequence[Measure], *wanted: str) -> list[int]:
    names = [str(measure) for measure in measures]
    if missing := [name for name in wanted if name not in names]:
        raise _Missing(f"{missing[0]} was not measured")
    return [names.index(name) for name in wanted]


def _defined(names: Sequence[str], values: Floats) -> Floats:
    """Return figures of measures, all of which must be defined."""
    for name, value in zip(names, values.tolist(), strict=True):
        if not np.isfinite(value):
            raise _Missing(f"{name} is undefined here")
    return values


def _recall(k: int, theta: str) -> str:
    return f"R@{k},IoU={theta}"


def _recalls(*ranks: int) -> list[str]:
    return [_recall(k, theta) for k in ranks or RANKS for theta in THRESHOLDS]


# ---------------------------------------------------------------------------------------------- agreement


def _tau(studies: Studies, ones: Sequence[str], others: Sequence[str]) -> Floats:
    """Return tau of each of some measures with each of others, without that of a measure with itself."""
    if studies.agreement is None:
        raise _Missing("agreement was not studied")
    measures = studies.agreement.systems.measures
    table = studies.agreement.tau[np.ix_(_rows(measures, *ones), _rows(measures, *others))]
    differ = np.array([[row != column for column in others] for row in ones])
    values = table[differ]
    if not np.isfinite(values).any():
        raise _Missing("tau is undefined: a measure ties all systems")
    return np.asarray(values[np.isfinite(values)])


def _span(values: Floats) -> str:
    return f"{values.min():.2f} to {values.max():.2f}"


def _each_tau(
    ones: Sequence[str], others: Sequence[str], holds: Callable[[float], bool], paper: str
) -> Callable[[Studies], tuple[Sequence[bool], str]]:
    """Return the function that decides a claim about each tau of some measures with others."""

    def decide(studies: Studies) -> tuple[Sequence[bool], str]:
        tau = _tau(studies, ones, others)
        return list(map(holds, tau.tolist())), f"tau {_span(tau)} ({paper})"

    return decide


def _agree_with_each_other(studies: Studies) -> tuple[Sequence[bool], str]:
    tau = _tau(studies, names := [f"AxIoU@{k}" for k in RANKS], names)
    recalls = _tau(studies, _recalls(), _recalls())
    statement = (
        f"tau {_span(tau)}, mean {tau.mean():.2f}; of R@K with each other {recalls.mean():.2f} (paper: 0.36 to 0.73)"
    )
    return [bool(tau.min() >= 0.36), bool(tau.mean() > recalls.mean())], statement


# ---------------------------------------------------------------------------------------------- stability


def _self_agreement(studies: Studies, *names: str) -> Floats:
    """Return the mean self-agreement over all sizes, one figure per measure."""
    if studies.stability is None:
        raise _Missing("stability was not studied")
    return _defined(names, studies.stability.mean.mean(axis=0)[_rows(studies.stability.measures, *names)])


def _strict_is_stable(studies: Studies) -> tuple[Sequence[bool], str]:
    cases, figures = [], []
    for k in RANKS:
        loose, middle, strict = _self_agreement(studies, *_recalls(k))
        cases += [bool(strict > loose), bool(strict > middle)]
        figures.append(f"K = {k}: {loose:.2f}, {middle:.2f}, {strict:.2f}")
    return cases, f"mean tau at 0.3, 0.5, 0.7 for {'; '.join(figures)}"


def _axiou_is_stable(studies: Studies) -> tuple[Sequence[bool], str]:
    cases, figures = [], []
    for k in RANKS:
        axiou, *recalls = _self_agreement(studies, f"AxIoU@{k}", *_recalls(k))
        cases += [bool(axiou > value) for value in recalls]
        figures.append(f"K = {k}: {axiou:.2f} against {max(recalls):.2f} at best")
    return cases, "; ".join(figures)


# ---------------------------------------------------------------------------------------------- ambiguity


def _error_between(studies: Studies) -> tuple[Sequence[bool], str]:
    if not studies.ambiguity:
        raise _Missing("label noise was not studied")
    cases, figures = [], []
    for study in studies.ambiguity:
        errors = study.levels[-1].rmse.mean(axis=0)
        for k in RANKS:
            names = (_recall(k, "0.3"), _recall(k, "0.7"), f"AxIoU@{k}")
            loose, strict, axiou = _defined(names, errors[_rows(study.measures, *names)])
            cases.append(bool(loose < axiou < strict))
        figures.append(f"{study.model}, K = 10: {100 * loose:.1f}, {100 * axiou:.1f}, {100 * strict:.1f} points")
    return cases, f"RMSE of R at 0.3, AxIoU, R at 0.7 under {'; '.join(figures)}"


# --------------------------------------------------------------------------------------------------- ties


def _all_tied(studies: Studies, *names: str) -> Floats:
    if studies.ties is None:
        raise _Missing("ties were not studied")
    return _defined(names, studies.ties.all_tied[_rows(studies.ties.systems.measures, *names)])


def _axiou_ties_less(studies: Studies) -> tuple[Sequence[bool], str]:
    cases, figures = [], []
    for k in RANKS:
        axiou, *recalls = _all_tied(studies, f"AxIoU@{k}", *_recalls(k))
        cases.append(bool(axiou <= min(recalls) and axiou < max(recalls)))
        span = f"{100 * min(recalls):.1f} to {100 * max(recalls):.1f} %"
        figures.append(f"K = {k}: {100 * axiou:.1f} % of the queries against {span}")
    return cases, "; ".join(figures)


def _ends_tie_most(studies: Studies) -> tuple[Sequence[bool], str]:
    shares = dict(zip(_recalls(), _all_tied(studies, *_recalls()), strict=True))
    most = sorted(shares, key=shares.__getitem__, reverse=True)
    named = ("R@10,IoU=0.3", "R@1,IoU=0.7")
    figures = ", ".join(f"{name} {100 * shares[name]:.1f} %" for name in most[:3])
    return [name in most[:3] for name in named], f"most tied: {figures}"


# ----------------------------------------------------------------------------------------------- selection


def _only_axiou_is_safe(studies: Studies) -> tuple[Sequence[bool], str]:
    if studies.selection is None:
        raise _Missing("selection was not studied")
    result = studies.selection
    recalls = [name for name in _recalls() if name != "R@10,IoU=0.3"]
    tests = [at for at, name in enumerate(map(str, result.test)) if name in recalls and result.z[:, at].any()]
    (row,) = _rows(result.validation, "AxIoU@10")
    if not tests:
        raise _Missing("no R@K separates the choices on the test split")
    above: Bools = np.asarray((result.z[:, tests] > 0).all(axis=1))
    safe = [str(measure) for measure, is_safe in zip(result.validation, above, strict=True) if is_safe]
    figures = f"above average under all {len(tests)} test measures: {', '.join(safe) or 'no choice'}"
    return [bool(above[row]), bool(above[row] and above.sum() == 1)], figures


CLAIMS: tuple[tuple[str, str, Callable[[Studies], tuple[Sequence[bool], str]]], ...] = (
    (
        "6.2",
        "AxIoU@10 agrees with every R@K,IoU (tau of 0.36 or more).",
        _each_tau(["AxIoU@10"], _recalls(), lambda tau: tau >= 0.36, "paper: 0.36 to 0.87"),
    ),
    (
        "6.2",
        "AxIoU@1, @5 and @10 agree with each other, better than the R@K do among themselves.",
        _agree_with_each_other,
    ),
    (
        "6.2",
        "R@10 does not agree with R@1 (tau of 0.21 or less).",
        _each_tau(_recalls(10), _recalls(1), lambda tau: tau <= 0.21, "paper, Charades-STA: -0.21 to 0.21"),
    ),
    (
        "6.2",
        "R@1,IoU=0.7 does not agree with the other R@K (tau of 0.38 or less; ActivityNet).",
        _each_tau(
            ["R@1,IoU=0.7"],
            [name for name in _recalls() if name != "R@1,IoU=0.7"],
            lambda tau: tau <= 0.38,
            "paper, ActivityNet: -0.07 to 0.38",
        ),
    ),
    ("6.3", "R@K at IoU 0.7 is more stable than at 0.3 and 0.5.", _strict_is_stable),
    ("6.3", "AxIoU@K is more stable than R@K of the same K.", _axiou_is_stable),
    ("6.4", "Label noise moves AxIoU@K less than R@K,IoU=0.7 and more than R@K,IoU=0.3.", _error_between),
    ("B", "AxIoU@K ties all systems on fewer queries than R@K of the same K does.", _axiou_ties_less),
    ("B", "R@10,IoU=0.3 and R@1,IoU=0.7 are among the three R@K that tie all systems most.", _ends_tie_most),
    (
        "6.6",
        "The variant that AxIoU@10 selects is above average by every test measure, and no other choice is.",
        _only_axiou_is_safe,
    ),
)
"""Section, claim of the paper, and the function that decides it: cases that hold or not, with figures."""
