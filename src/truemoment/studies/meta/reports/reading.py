"""How to read the reports of studies of measures: terms and their meaning."""

from __future__ import annotations

from collections.abc import Iterable

_TERMS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "Measures in figures",
        (),
        "Blue is R@K, orange AxIoU@K, green dR@K. Triangles stand for an IoU above 0.3, circles 0.5, squares 0.7, "
        "diamonds for no threshold; filled marks for K = 1, hollow ones for 5, half-filled for 10. R@1 .5 is "
        "R@1,IoU=0.5, and Ax@10 is AxIoU@10.",
    ),
    (
        "Intervals",
        ("agreement", "ties", "selection", "power"),
        "95 % percentile intervals over resamples of the videos, the same for all systems. They describe the variation "
        "between sets of videos, not between sets of systems.",
    ),
    (
        "Kendall's tau-b",
        ("agreement", "stability"),
        "Share of pairs of systems in the same order in two rankings minus the share in opposite order, corrected for "
        "ties: 1 for equal rankings, 0 for unrelated ones, -1 for reversed ones. With few systems it takes few values.",
    ),
    (
        "INV and MON",
        ("axioms",),
        "INV: changing a prediction that is not the best one so far leaves the figure unchanged. MON: improving the "
        "best prediction so far raises it. A counterexample proves that an axiom is broken; a search without one "
        "proves nothing.",
    ),
    (
        "Self-agreement",
        ("stability",),
        "Mean tau between the rankings of the systems on two sets of queries drawn from the split. A stable measure "
        "gives similar rankings on another test set.",
    ),
    (
        "Label noise",
        ("ambiguity", "theory"),
        "References are moved as another annotator might have set them. RMSE: change of the figures, in points. A "
        "measure that gives all systems nearly the same figure moves little, so the table compares RMSE with the "
        "spread of the systems.",
    ),
    ("All-tied queries", ("ties",), "Queries on which every system has the same value."),
    (
        "Separated pairs",
        ("power",),
        "Pairs of systems whose difference is significant in a paired test, corrected for the number of pairs. A pair "
        "that is not separated is not shown to be equal.",
    ),
    (
        "Regret",
        ("selection",),
        "The best figure of all variants on the test split minus that of the chosen variant, in points.",
    ),
    (
        "Best third",
        ("claims",),
        "A measure is in the best third by a criterion if its value is as good as that of place ceil(M / 3) of M "
        "measures.",
    ),
    (
        "Sources",
        (),
        "The axioms and most studies follow Togashi et al. (2022), AxIoU; dR is from Yuan et al. (2021), Closer Look. "
        "Figures named after theirs show the systems and data of this page.",
    ),
)
"""A term, the studies that need it (none: all), and its meaning."""


def reading_of(names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return the terms that sections of these names use."""
    studies = {name.partition("-")[0] for name in names}  # ambiguity has a section for each model of noise
    return tuple((term, meaning) for term, needed_by, meaning in _TERMS if not needed_by or studies & set(needed_by))
