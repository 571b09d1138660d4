"""The report on contamination: whether predictions recall official annotations, with the limits of the answer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from truemoment.base.boundary.documents import Measured, document_head
from truemoment.base.version import __version__
from truemoment.report.drawing import FLOOR, METHOD, METHOD_FAINT, drawing_style, new_figure
from truemoment.report.model import Block, Cell, Drawing, Finding, Paragraph, Report, Section, Table
from truemoment.report.words import UNDEFINED, counted, listed, low_to_high, number, p_number, percent
from truemoment.studies.contamination.exact_recall import CELL_S, REACH, ExactRecall, Side
from truemoment.studies.contamination.study import TEST_OF, Contamination, FreshEvidence, PairedShare, ProbeEvidence

if TYPE_CHECKING:  # it loads matplotlib
    from matplotlib.figure import Figure

SCHEMA = "truemoment/contamination/1"

HEIGHT_IN = 4.4

NOT_TESTED = "too few official times away from the ends of the video, or all on a coarse grid"

# ------------------------------------------------------------------------------------------------ document


def document(found: Contamination) -> dict[str, Any]:
    """Return what programs read."""
    return {
        **document_head(SCHEMA),
        "dataset": found.dataset,
        "split": found.split,
        "annotations": {"sha256": found.sha256, "n_queries": found.n_queries},
        "predictions": found.source,
        "match": None if found.match is None else found.match.as_dict(),
        "answered": found.n_answered,
        "several_moments": found.n_several,
        "verdict": verdict(found),
        "signs": found.signs,
        "recall": _recall_document(found.recall, found.p_holm),
        "rounded": None
        if found.rounded is None
        else {
            "n": found.rounded.n,
            "n_videos": found.rounded.n_videos,
            "share": Measured(found.rounded.share, ci95=found.rounded.share_ci95),
            "ratio": Measured(found.rounded.ratio, ci95=found.rounded.ratio_ci95, unit=""),
            "p": found.rounded.p,
            "p_holm": found.p_holm.get("rounded moments"),
        },
        "fresh": None if found.fresh is None else _fresh_document(found.fresh),
        "probes": [_probe_document(of, found.p_holm) for of in found.probes],
        **vars(found.draws),
        "notes": notes(found),
    }


def _recall_document(recall: Mapping[Side, ExactRecall | None], p_holm: Mapping[str, float]) -> list[dict[str, Any]]:
    return [
        {
            "test": TEST_OF[side],
            "n": of.n,
            "n_videos": of.n_videos,
            "n_exact": of.n_exact,
            "share": Measured(of.share, ci95=of.share_ci95),
            "expected": of.expected,
            "excess": Measured(of.excess, ci95=of.excess_ci95),
            "detectable": of.detectable,
            "p": of.p,
            "p_holm": p_holm.get(TEST_OF[side]),
            "histogram": None if side == "both" else numbers(of),
        }
        for side, of in recall.items()
        if of is not None
    ]


def _fresh_document(of: FreshEvidence) -> dict[str, Any]:
    return {
        "annotations": of.dataset,
        "n_queries": of.n_queries,
        "n_moments": of.n_moments,
        "recall": _recall_document(of.recall, {}),
        "closeness": [_paired_document(one, "official", "fresh") for one in of.closeness],
    }


def _probe_document(of: ProbeEvidence, p_holm: Mapping[str, float]) -> dict[str, Any]:
    return {
        "probe": of.name,
        "n_queries": of.n_queries,
        "same": of.same,
        "p_holm": p_holm.get(f"probe {of.name}"),
        "figures": [_paired_document(one, "original", "probe") for one in (of.exact, *of.others)],
    }


def _paired_document(of: PairedShare, first: str, second: str) -> dict[str, Any]:
    return {
        "figure": of.name,
        first: of.first,
        second: of.second,
        "difference": Measured(of.difference, why="no query counts", ci95=of.ci95),
        "p": of.p,
    }


# ------------------------------------------------------------------------------------------------- verdict


def verdict(found: Contamination) -> str:
    """Return the answer in one sentence."""
    if not found.p_holm:
        return f"Nothing can be tested: {NOT_TESTED}."
    if not found.signs:
        return "No sign that the predictions recall official annotations."
    exact = [name for name in found.signs if name in TEST_OF.values()]
    reasons = (
        [f"official {listed(exact)} are met exactly more often than their neighbourhood predicts"] if exact else []
    )
    if "rounded moments" in found.signs:
        reasons.append("whole-second answers are too often the ones nearest to official moments")
    probes = [name.removeprefix("probe ") for name in found.signs if name.startswith("probe ")]
    if probes:
        reasons.append(f"exact answers are lost when sentences are {listed(probes, 'or')}")
    return f"The predictions recall official annotations: {'; '.join(reasons)}."


def limits(found: Contamination) -> list[str]:
    """Return the sentences on what the verdict does not show."""
    lines = []
    best = min((of.detectable for of in found.recall.values() if of is not None), default=None)
    if best is not None and not found.signs:
        lines.append(
            f"No sign is no proof. If {percent(best, 1)} of the moments were recalled exactly, the tests would find it "
            "in 80 of 100 such files. They miss a smaller share, and recall with an error above about 0.1 s."
        )
    if found.signs == ("rounded moments",):
        lines.append("A method whose errors are often below half a second gives the same sign without any recall.")
    return lines


def notes(found: Contamination) -> list[str]:
    """Return what a reader of the figures has to know."""
    lines = [
        f"An end is exact within {CELL_S / 2:g} s. Official times within {(REACH + 1) * CELL_S:g} s of an end of the "
        "video do not count: answers at 0 or at the end of the video are frequent in every method.",
        "expected: share of exact answers that the differences up to 1 s predict; excess: share above it.",
        "p: corrected after Holm over all tests of the verdict; at most 0.05 is a sign.",
    ]
    if found.n_several:
        lines.append(f"{counted(found.n_several, 'query', 'queries')} without one official moment are left out.")
    if found.fresh is not None:
        lines.append(
            "Answers may be closer to official than to fresh moments without recall: a method that is trained on the "
            "dataset learns how its annotators place the ends. This difference is not in the verdict."
        )
    return lines


# -------------------------------------------------------------------------------------------------- report


def report(found: Contamination) -> Report:
    """Return what people read."""
    headline = Finding((verdict(found),), level="serious" if found.signs else "note")
    blocks: list[Block] = [*map(Paragraph, limits(found)), recall_table(found)]
    blocks += [] if found.rounded is None else [rounded_table(found)]
    sections = [Section("recall", "Are official times met too exactly?", (*blocks, *drawings(found)))]
    if found.fresh is not None:
        tables = (
            fresh_table(found.fresh),
            paired_table(found.fresh.closeness, "official", "fresh", "Closeness, percent"),
        )
        sections.append(Section("fresh", "Are fresh annotations met as exactly?", tables))
    if found.probes:
        sections.append(
            Section("probes", "What do other sentences change?", tuple(map(partial(_probe, found), found.probes)))
        )
    return Report(
        title=f"Contamination of {found.source.get('path', 'predictions')} on {found.dataset}/{found.split}",
        question="Do the predictions recall official annotations?",
        facts=_facts(found),
        sections=tuple(sections),
        headline=headline,
        notes=tuple(notes(found)),
        signature=(
            f"{found.dataset}/{found.split}#{found.sha256[:8]}|contamination|intervals:{found.draws.resamples} "
            f"resamples of videos|permutations:{found.draws.permutations}|seed:{found.draws.seed}|v{__version__}"
        ),
        hashes=(
            *([(found.source["path"], found.source["sha256"])] if found.source else []),
            ("annotations", found.sha256),
        ),
    )


def _facts(found: Contamination) -> tuple[tuple[str, str], ...]:
    facts = [
        (
            "data",
            f"{found.dataset}/{found.split}: {counted(found.n_queries, 'query', 'queries')}; "
            f"with one official moment and an answer: {found.n_answered:,}",
        )
    ]
    if found.fresh is not None:
        queries = counted(found.fresh.n_queries, "answered query", "answered queries")
        facts.append(("fresh annotations", f"{found.fresh.dataset}: {found.fresh.n_moments:,} moments of {queries}"))
    if found.match is not None:
        facts.append(("predictions", f"{found.source['path']}: {found.match.format}; {found.match.rows:,} rows"))
    return tuple(facts)


def recall_table(found: Contamination) -> Table:
    """Return the tests of exact recall."""
    rows = [_recall_row(side, of, found.p_holm.get(TEST_OF[side])) for side, of in found.recall.items()]
    return Table("Exact answers, percent of official times", _HEADINGS, (("", tuple(rows)),))


_HEADINGS = ("", "times", "exact", "95 % interval", "expected", "excess", "95 % interval", "p", "detectable")


def _recall_row(side: Side, of: ExactRecall | None, p: float | None) -> tuple[Cell, ...]:
    if of is None:
        return tuple(map(Cell, (TEST_OF[side], *[UNDEFINED] * (len(_HEADINGS) - 1))))
    texts = (
        TEST_OF[side],
        f"{of.n:,}",
        number(100 * of.share),
        low_to_high(of.share_ci95, times=100) or UNDEFINED,
        number(100 * of.expected),
        number(100 * of.excess, sign="+"),
        low_to_high(of.excess_ci95, times=100, sign="+") or UNDEFINED,
        UNDEFINED if p is None else p_number(p),
        number(100 * of.detectable, 1),
    )
    return tuple(map(Cell, texts))


def rounded_table(found: Contamination) -> Table:
    """Return the test of whole-second answers."""
    of = found.rounded
    assert of is not None  # noqa: S101 - the caller has asked
    headings = ("", "official", "within 0.5 s, %", "95 % interval", "times as many", "95 % interval", "p")
    texts = (
        "rounded moments",
        f"{of.n:,}",
        number(100 * of.share),
        low_to_high(of.share_ci95, times=100) or UNDEFINED,
        number(of.ratio),
        low_to_high(of.ratio_ci95) or UNDEFINED,
        p_number(found.p_holm["rounded moments"]),
    )
    caption = "Whole-second answers with both ends within half a second, against those that the neighbourhood predicts"
    return Table(caption, headings, (("", (tuple(map(Cell, texts)),)),))


def fresh_table(of: FreshEvidence) -> Table:
    """Return the same tests against fresh moments."""
    rows = [_recall_row(side, one, None if one is None else one.p) for side, one in of.recall.items()]
    caption = "The same answers against fresh moments, which nobody has memorised; p is not corrected"
    return Table(caption, _HEADINGS, (("", tuple(rows)),))


def paired_table(rows: tuple[PairedShare, ...], first: str, second: str, caption: str) -> Table:
    """Return figures in two conditions, in percent."""
    cells = tuple(
        tuple(
            map(
                Cell,
                (
                    of.name,
                    number(100 * of.first),
                    number(100 * of.second),
                    number(100 * of.difference, sign="+"),
                    low_to_high(of.ci95, times=100, sign="+") or UNDEFINED,
                    p_number(of.p),
                ),
            )
        )
        for of in rows
    )
    headings = ("", first, second, "difference", "95 % interval", "p, one-sided")
    return Table(caption, headings, (("", cells),))


def _probe(found: Contamination, of: ProbeEvidence) -> Table:
    p = found.p_holm.get(f"probe {of.name}")
    caption = (
        f"Probe {of.name}, percent: {counted(of.n_queries, 'query', 'queries')}, {percent(of.same, 1)} of the answers "
        f"do not change; p of exact moments, corrected: {UNDEFINED if p is None else p_number(p)}"
    )
    return paired_table((of.exact, *of.others), "original", "probe", caption)


# -------------------------------------------------------------------------------------------------- figure


def drawings(found: Contamination) -> list[Drawing]:
    """Return the histogram of differences around 0."""
    of_sides = [of for side, of in found.recall.items() if side != "both" and of is not None]
    if not of_sides:
        return []
    caption = (
        "Answers by their difference from the official time, in cells of 0.1 s. The line is the fit to the cells "
        "beside 0; the bar at 0, in a stronger colour, holds the exact answers. Recall of official times is a bar far "
        "above the line."
    )
    draw, rows = partial(figure, of_sides), [row for of in of_sides for row in numbers(of)]
    return [Drawing("contamination", "Differences around 0", caption, draw, lambda: rows)]


def numbers(of: ExactRecall) -> list[dict[str, Any]]:
    """Return the cells of one side."""
    columns = zip(of.difference_s[:, 0].tolist(), of.counts.tolist(), of.predicted.tolist(), strict=True)
    return [
        {"side": of.side, "difference_s": round(at, 1), "answers": count, "predicted": predicted}
        for at, count, predicted in columns
    ]


def figure(of_sides: list[ExactRecall]) -> Figure:
    """Draw the histograms, one below the other."""
    with drawing_style():
        drawn = new_figure(HEIGHT_IN * len(of_sides) / 2)
        for axes, of in zip(drawn.subplots(len(of_sides), 1, squeeze=False)[:, 0], of_sides, strict=True):
            at = of.difference_s[:, 0]
            colours = [METHOD if abs(cell) < CELL_S / 2 else METHOD_FAINT for cell in at]
            axes.bar(at, of.counts, width=0.9 * CELL_S, color=colours)
            axes.plot(at, of.predicted, color=FLOOR)
            axes.set_xlabel(f"predicted {of.side} - official {of.side}, s")
            axes.set_ylabel("answers")
            axes.set_ylim(bottom=0)
    return drawn
