"""The journal version of Closer Look (Lan, Yuan et al. 2023): 12 methods, parts and confounders of MDD.

Its Table 2 repeats the rows of methods without a model from the first version, truncated and on all queries. Figures of
the other tables are rounded. Those of Charades-CD's test-ood count 3,372 of 3,375 queries: LEOL6 and AKKWU (twice) have
moments that begin after the end of the video, and only without them are all R@1 figures of Table 4 whole counts.

In the extracted text of the journal, labels of Table 4 have lost characters; each such figure has a note on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from types import MappingProxyType

from truemoment.base.records import Annotations
from truemoment.reproduction.base import PublishedTable, Reproduced, TableInputs
from truemoment.reproduction.closer_look import METHODS, PROTOCOL, RE_SPLIT, floors
from truemoment.reproduction.systems import SYSTEMS, SplitEvaluator, System, TrainedMethods
from truemoment.studies.compare.comparison import PublishedFigure

PAPER = "Closer Look, journal version (Lan, Yuan et al. 2023)"
ROUNDED = replace(PROTOCOL, rounding="nearest")


def _mdd(*branches: str, phrases: bool = True, reconstruct: bool = True) -> System:
    return System("mdd", {"phrases": phrases, "reconstruct": reconstruct, "branches": list(branches)})


BASE = (*SYSTEMS["2D-TAN"], _mdd(phrases=False, reconstruct=False))
JOURNAL_SYSTEMS: Mapping[str, tuple[System, ...]] = MappingProxyType(
    {
        **SYSTEMS,
        "MDD": (_mdd("L", "U", "U"),),
        "base (2D-TAN)": BASE,
        "base + EM": (_mdd(),),
        "base + EM + MC": (_mdd("L", "U", "U"),),
        "MDD-loc?": (_mdd("L"),),
        "MDD-act?": (_mdd("A"),),
        "MDD-uno?": (_mdd("U"),),
        "MDD-loc*act?": (_mdd("L", "A"),),
        "MDD-loc*uno?": (_mdd("L", "U"),),
        "MDD-act*uno?": (_mdd("A", "U"),),
        "MDD-loc*act*uno": (_mdd("L", "A", "U"),),
        "MDD-loc*uno*uno": (_mdd("L", "U", "U"),),
    }
)
"""Methods of the journal's tables."""


def counted(annotations: Annotations) -> Annotations:
    """Return the queries whose moment begins before the end of the video."""
    begins = annotations.start_s < annotations.duration_s
    return annotations if begins.all() else annotations.select_rows(begins)


def trained(figures: Sequence[PublishedFigure], inputs: TableInputs) -> TrainedMethods:
    """Return the trained methods of a table of the journal."""
    measures = tuple(dict.fromkeys(figure.measure for figure in figures))
    return TrainedMethods(inputs, JOURNAL_SYSTEMS, ROUNDED, SplitEvaluator(inputs, ROUNDED, measures, counted))


def table_2(figures: Sequence[PublishedFigure], inputs: TableInputs) -> Iterator[Reproduced]:
    """Table 2: PredictAll and Bias-based as in the first version, and ten trained methods."""
    yield from floors([figure for figure in figures if figure.method in METHODS], inputs)
    yield from parts([figure for figure in figures if figure.method not in METHODS], inputs)


def parts(figures: Sequence[PublishedFigure], inputs: TableInputs) -> Iterator[Reproduced]:
    """Tables 3 and 4: variants of MDD. They need no dataset where no run is given."""
    methods = trained(figures, inputs)
    for figure in figures:
        yield from methods.rows(figure)


ORIGINAL = (("Charades-STA", "test"), ("ActivityNet Captions", "test"))
"""Test splits of the datasets as they were before; that of ActivityNet Captions is val_1 and val_2 together."""

ORIGINAL_MEASURES = ("R@1,IoU=0.5", "R@1,IoU=0.7", "dR@1,IoU=0.5", "dR@1,IoU=0.7")

ONLY_DRAWN = "the paper shows the figures of methods on the original splits only as bars (Figure 11)"


def original(figures: Sequence[PublishedFigure], inputs: TableInputs) -> Iterator[Reproduced]:
    """Figures on the original splits: those in the text, and ours of every method that is computed here or was run."""
    yield from floors(figures, inputs)
    quoted = {(figure.dataset, figure.method, figure.measure) for figure in figures}
    measure = SplitEvaluator(inputs, ROUNDED, ORIGINAL_MEASURES, counted)
    methods = TrainedMethods(inputs, JOURNAL_SYSTEMS, ROUNDED, measure, ONLY_DRAWN)
    for dataset, split in ORIGINAL:
        quoted_figures = [
            replace(
                figures[0], dataset=dataset, split=split, method=method, measure=name, value=Decimal("0.00"), note=""
            )
            for method in (*METHODS, *SYSTEMS, "MDD")
            for name in ORIGINAL_MEASURES
            if (dataset, method, name) not in quoted
        ]
        rows = list(floors([figure for figure in quoted_figures if figure.method in METHODS], inputs))
        rows += [row for figure in quoted_figures if figure.method not in METHODS for row in methods.rows(figure)]
        ours = [replace(row, published=None, tolerance=None) for row in rows if row.ours is not None]
        yield from (replace(row, source="truemoment", table="original splits") for row in ours)


TABLES = (
    PublishedTable(
        "closer-look-journal-2",
        "Twelve methods by discounted recall, two of them debiased",
        f"{PAPER}, Table 2",
        RE_SPLIT,
        "closer_look_tomm_table2.csv",
        table_2,
    ),
    PublishedTable(
        "closer-look-original",
        "The same methods on the original splits, beside the figures of the text",
        f"{PAPER}, section 5.2; Figure 11 shows the others as bars",
        ("charades-sta", "activitynet-captions"),
        "closer_look_original.csv",
        original,
    ),
    PublishedTable(
        "closer-look-journal-3",
        "Parts of MDD: enhanced modalities (EM) and multiple confounders (MC)",
        f"{PAPER}, Table 3",
        ("activitynet-cd",),
        "closer_look_tomm_table3.csv",
        parts,
    ),
    PublishedTable(
        "closer-look-journal-4",
        "Confounders of MDD: location, action, unobserved",
        f"{PAPER}, Table 4",
        ("charades-cd",),
        "closer_look_tomm_table4.csv",
        parts,
    ),
)
