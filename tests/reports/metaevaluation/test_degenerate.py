"""Reports and verdict of studies that find hardly anything: sentences stay whole, and nothing undefined is written."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable

import numpy as np
import pytest

from truemoment.base.boundary.documents import as_json
from truemoment.evaluation.measures import Measure, lower_is_better
from truemoment.report.drawing import save_drawings
from truemoment.report.model import Drawing, Finding, Paragraph, Report, Table
from truemoment.report.render import terminal
from truemoment.studies.meta.agreement import agreement
from truemoment.studies.meta.all_studies import Studies
from truemoment.studies.meta.ambiguity import Ambiguity, NoiseLevel
from truemoment.studies.meta.axioms import AxiomResult, check_axioms
from truemoment.studies.meta.power import power
from truemoment.studies.meta.reports import document, report, study_reports
from truemoment.studies.meta.reports.verdict import verdict
from truemoment.studies.meta.selection import select
from truemoment.studies.meta.stability import stability
from truemoment.studies.meta.systems import Systems
from truemoment.studies.meta.theory import Theory, theory
from truemoment.studies.meta.ties import ties

from ...thorough import quick_are

pytestmark = pytest.mark.slow

SIX = "R@1,IoU=0.5; R@5,IoU=0.5; R@10,IoU=0.5; AxIoU@1; AxIoU@5; AxIoU@10"
TWELVE = "; ".join([*(f"R@{k},IoU={m}" for k in (1, 5, 10) for m in (0.3, 0.5, 0.7)), "AxIoU@1", "AxIoU@5", "AxIoU@10"])

BAD = {
    "undefined numbers": r"\b(nan|inf)\b",
    "a negative zero": r"-0(\.0+)?(?![\d.])",
    "one of many": r"(?<![\d.,])1 (pairs|queries|measures|systems|videos|claims|variants|comparisons|choices)\b",
    "none of one": r"None of the (1|one)\b",
    "one of one": r"\b1 of 1 [a-z]",
    "no parts": r"\(\)|, ,| [.,;:](?!\d)|\.\.(?!\.)",
    "two blanks": r"\S  \S",
}


def equal(systems: Systems) -> Systems:
    """All systems answer as the first does."""
    for scores in systems.scores.values():
        scores.numerator[:] = systems.first.numerator
    return systems


def perfect(systems: Systems) -> Systems:
    for scores in systems.scores.values():
        scores.numerator[:] = 1.0
    return systems


def without_first(systems: Systems) -> Systems:
    """The first measure is undefined on the whole split, as where no reference is of its class."""
    for scores in systems.scores.values():
        scores.weight[0], scores.numerator[0] = 0.0, 0.0
    return systems


def without_any(systems: Systems) -> Systems:
    for scores in systems.scores.values():
        scores.weight[:], scores.numerator[:] = 0.0, 0.0
    return systems


def half(systems: Systems) -> Systems:
    """The first measure is undefined for the first system alone."""
    systems.first.weight[0], systems.first.numerator[0] = 0.0, 0.0
    return systems


def as_it_is(systems: Systems) -> Systems:
    return systems


CASES: dict[str, tuple[list[str], str, Callable[[Systems], Systems]]] = {
    "one measure, two systems": (["a", "b"], "mIoU", as_it_is),
    "one measure": (["a", "b", "c", "d"], "R@1,IoU=0.5", as_it_is),
    "one measure, equal systems": (["a", "b", "c"], "AxIoU@5", equal),
    "two measures, two systems": (["a", "b"], "mIoU; R@1,IoU=0.5", as_it_is),
    "two measures": (["a", "b", "c"], "mIoU; R@5,IoU=0.5", as_it_is),
    "two measures of a family": (["a", "b", "c"], "R@1,IoU=0.5; R@5,IoU=0.5", as_it_is),
    "two systems": (["a", "b"], SIX, as_it_is),
    "three systems": (["a", "b", "c"], SIX, as_it_is),
    "two equal systems": (["a", "b"], SIX, equal),
    "equal systems": (["a", "b", "c"], SIX, equal),
    "perfect systems": (["a", "b", "c"], SIX, perfect),
    "less is better": (["a", "b", "c"], "FalseAbstention; mIoU", as_it_is),
    "less is better alone": (["a", "b"], "FalseAbstention", as_it_is),
    "a measure undefined": (["a", "b", "c"], SIX, without_first),
    "a measure of two undefined": (["a", "b", "c"], "mIoU; R@1,IoU=0.5", without_first),
    "a measure undefined for one system": (["a", "b", "c"], SIX, half),
    "a measure undefined for one system of two": (["a", "b"], "mIoU; R@1,IoU=0.5", half),
    "all undefined": (["a", "b"], SIX, without_any),
    "the paper's, equal systems": (["a", "b", "c"], TWELVE, equal),
    "the paper's, one undefined": (["a", "b", "c"], TWELVE, without_first),
}


DRAWN = ["one measure, equal systems", "two equal systems", "a measure undefined", "all undefined"]


def noise(systems: Systems, rng: np.random.Generator, n_levels: int) -> Ambiguity:
    """Figures off by a little, so that some pairs change places; of equal systems all by the same."""
    off = rng.normal(0, 0.05, (6, *systems.figures.shape))
    off *= (systems.figures != systems.figures[:1]).any()
    levels = tuple(
        NoiseLevel(
            "shift", f"variance {n} s²", 0.9, 0.95, systems.figures, systems.figures + n * off, systems.direction
        )
        for n in range(1, n_levels + 1)
    )
    return Ambiguity(systems.names, systems.measures, levels)


@functools.cache
def tried(measures: tuple[Measure, ...]) -> tuple[AxiomResult, ...]:
    return check_axioms(measures, np.random.default_rng(0), pairs=20)


@functools.cache
def in_theory(ious: int) -> Theory:
    return theory(np.random.default_rng(0), gammas=[0.1], draws=50, ious=ious)


@pytest.fixture(scope="module", params=quick_are([name for name in CASES if "paper" not in name], list(CASES)))
def studies(request, make_systems) -> Studies:
    names, measures, change = CASES[request.param]
    systems = change(make_systems(names, measures))
    rng = np.random.default_rng(0)
    defined = not np.isnan(systems.figures).all(axis=0).any()
    ranked = [measure for measure in systems.measures if not lower_is_better(measure)]  # the axioms speak of these
    return Studies(
        systems,
        axioms=tried(tuple(ranked)) if ranked else (),
        agreement=agreement(systems, rng, resamples=5),
        stability=stability(systems, rng, sizes=[1, 10, 20], trials=4),
        ties=ties(systems, rng, resamples=5),
        ambiguity=(noise(systems, rng, 1 if len(names) == 2 else 2),),
        power=power(systems, rng, repetitions=2, sizes=[70]),
        selection=select(systems, systems, rng, resamples=5) if defined else None,  # refuses others
        theory=in_theory(1 if len(names) == 2 else 3),
    )


def faults(sentence: str) -> list[str]:
    return [f"{what}: {sentence}" for what, pattern in BAD.items() if re.search(pattern, sentence)]


def whole(studies: Studies) -> Report:
    return report(study_reports(studies), verdict=verdict(studies))


def test_every_sentence_stands(studies):
    made = whole(studies)
    sentences = [*made.headline.sentences, *made.notes, *(section.title for section in made.sections)]
    for block in made.blocks():
        if isinstance(block, Finding):
            assert block.sentences
            sentences += block.sentences
        elif isinstance(block, Drawing | Table):
            sentences.append(block.caption)
        elif isinstance(block, Paragraph):
            sentences.append(block.text)
    for table in made.tables:
        sentences += table.headings
        sentences += [text for _, rows in table.groups for row in rows for cell in row for text in cell[:2]]
    assert [fault for sentence in sentences for fault in faults(sentence)] == []


def test_no_number_gets_lost_in_the_terminal(studies):
    text = "\n".join(terminal.body(whole(studies)))
    assert not re.search(BAD["undefined numbers"], text.lower())
    assert max(map(len, text.splitlines())) <= 100


def test_the_document_has_a_reason_for_every_null(studies):
    """Nothing that JSON cannot write, and no entry with a null but without a `why` in it or around it."""
    made = as_json(document(study_reports(studies), verdict=verdict(studies)))
    json.dumps(made, allow_nan=False)
    for study in ("power", "stability", "ties"):
        assert unexplained(made["studies"][study]["measures"]) == []


def unexplained(value: object, *, explained: bool = False) -> list[object]:
    if isinstance(value, dict):
        explained = explained or "why" in value
        return [found for key, of in value.items() for found in unexplained(of, explained=explained) or []]
    if isinstance(value, list):
        return [found for of in value for found in unexplained(of, explained=explained)]
    return [value] if value is None and not explained else []


@pytest.mark.thorough  # test_studies.py draws those of usual systems
@pytest.mark.parametrize("studies", DRAWN, indirect=True)
def test_pictures_can_be_drawn(studies, tmp_path):
    """Warnings are errors here."""
    drawings = [of for of in whole(studies).drawings if not of.name.startswith(("axioms", "theory"))]
    assert len(save_drawings(drawings, tmp_path, ("png",))) == len(drawings)  # the others are drawn elsewhere


def test_undefined_measures_are_never_the_poorest(studies):
    names = [str(measure) for measure in studies.systems.measures]
    undefined = [name for name, column in zip(names, studies.systems.figures.T, strict=True) if np.isnan(column).all()]
    for answer in verdict(studies).answers if len(undefined) < len(names) else ():
        if answer.title != "What they reward":
            for name in undefined:
                assert not [one for one in answer.sentences if re.search(rf"{re.escape(name)}(?!\d)", one)]
