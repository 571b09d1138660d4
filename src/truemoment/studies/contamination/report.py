"""The report on contamination: whether predictions recall official annotations, with the limits of the answer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from truemoment.base.boundary.documents import Measured, document_head
from truemoment.base.version import __version__
from truemoment.report.drawing import METHOD, METHOD_FAINT, drawing_style, new_figure
from truemoment.report.model import Block, Cell, Drawing, Finding, Paragraph, Report, Section, Table
from truemoment.report.roles import ROLES
from truemoment.report.words import UNDEFINED, counted, listed, low_to_high, number, p_number, percent
from truemoment.studies.contamination.exact_recall import CELL_S, REACH, ExactRecall, Side
from truemoment.studies.contamination.study import TEST_OF, Contamination, FreshEvidence, PairedShare, ProbeEvidence

if TYPE_CHECKING:  # it loads matplotlib
    from matplotlib.figure import Figure

SCHEMA = "truemoment/contamination/1"

HEIGHT_IN = 4.4

NOT_TESTED = "too few official times away from the ends of the video, or all on a coarse grid"

# ------------------------------------------------------------------------------------------------ document


def document(result: Contamination) -> dict[str, Any]:
    """Return the JSON document of contamination."""
    return {
        **document_head(SCHEMA),
        "dataset": result.dataset,
        "split": result.split,
        "annotations": {"sha256": result.sha256, "n_queries": result.n_queries},
        "predictions": result.source,
        "match": None if result.match is None else result.match.as_dict(),
        "answered": result.n_answered,
        "several_moments": result.n_several,
        "verdict": verdict(result),
        "signs": result.signs,
        "recall": _recall_document(result.recall, result.p_holm),
        "rounded": None
        if result.rounded is None
        else {
            "n": result.rounded.n,
            "n_videos": result.rounded.n_videos,
            "share": Measured(result.rounded.share, ci95=result.rounded.share_ci95),
            "ratio": Measured(result.rounded.ratio, ci95=result.rounded.ratio_ci95, unit=""),
            "p": result.rounded.p,
            "p_holm": result.p_holm.get("rounded moments"),
        },
        "fresh": None if result.fresh is None else _fresh_document(result.fresh),
        "probes": [_probe_document(probe, result.p_holm) for probe in result.probes],
        **vars(result.draws),
        "notes": notes(result),
    }


def _recall_document(recall: Mapping[Side, ExactRecall | None], p_holm: Mapping[str, float]) -> list[dict[str, Any]]:
    return [
        {
            "test": TEST_OF[side],
            "n": test.n,
            "n_videos": test.n_videos,
            "n_exact": test.n_exact,
            "share": Measured(test.share, ci95=test.share_ci95),
            "expected": test.expected,
            "excess": Measured(test.excess, ci95=test.excess_ci95),
            "detectable": test.detectable,
            "p": test.p,
            "p_holm": p_holm.get(TEST_OF[side]),
            "histogram": None if side == "both" else numbers(test),
        }
        for side, test in recall.items()
        if test is not None
    ]


def _fresh_document(fresh: FreshEvidence) -> dict[str, Any]:
    return {
        "annotations": fresh.dataset,
        "n_queries": fresh.n_queries,
        "n_moments": fresh.n_moments,
        "recall": _recall_document(fresh.recall, {}),
        "closeness": [_paired_document(share, "official", "fresh") for share in fresh.closeness],
    }


def _probe_document(probe: ProbeEvidence, p_holm: Mapping[str, float]) -> dict[str, Any]:
    return {
        "probe": probe.name,
        "n_queries": probe.n_queries,
        "same": probe.same,
        "p_holm": p_holm.get(f"probe {probe.name}"),
        "figures": [_paired_document(share, "original", "probe") for share in (probe.exact, *probe.others)],
    }


def _paired_document(share: PairedShare, first: str, second: str) -> dict[str, Any]:
    return {
        "figure": share.name,
        first: share.first,
        second: share.second,
        "difference": Measured(share.difference, why="no query counts", ci95=share.ci95),
        "p": share.p,
    }


# ------------------------------------------------------------------------------------------------- verdict


def verdict(result: Contamination) -> str:
    """Return the verdict in one sentence."""
    if not result.p_holm:
        return f"Nothing can be tested: {NOT_TESTED}."
    if not result.signs:
        return "No sign that the predictions recall official annotations."
    exact = [name for name in result.signs if name in TEST_OF.values()]
    reasons = (
        [f"official {listed(exact)} are met exactly more often than their neighbourhood predicts"] if exact else []
    )
    if "rounded moments" in result.signs:
        reasons.append("whole-second answers are too often the ones nearest to official moments")
    probes = [name.removeprefix("probe ") for name in result.signs if name.startswith("probe ")]
    if probes:
        reasons.append(f"exact answers are lost when sentences are {listed(probes, 'or')}")
    return f"The predictions recall official annotations: {'; '.join(reasons)}."


def limits(result: Contamination) -> list[str]:
    """Return the sentences on what the verdict does not show."""
    lines = []
    best = min((test.detectable for test in result.recall.values() if test is not None), default=None)
    if best is not None and not result.signs:
        lines.append(
            f"No sign is no proof. If {percent(best, 1)} of the moments were recalled exactly, the tests would find it "
            "in 80 of 100 such files. They miss a smaller share, and recall with an error above about 0.1 s."
        )
    if result.signs == ("rounded moments",):
        lines.append("A method whose errors are often below half a second gives the same sign without any recall.")
    return lines


def notes(result: Contamination) -> list[str]:
    """Return remarks on the figures."""
    lines = [
        f"An end is exact within {CELL_S / 2:g} s. Official times within {(REACH + 1) * CELL_S:g} s of an end of the "
        "video do not count: answers at 0 or at the end of the video are frequent in every method.",
        "expected: share of exact answers that the differences up to 1 s predict; excess: share above it.",
        "p: corrected after Holm over all tests of the verdict; at most 0.05 is a sign.",
    ]
    if result.n_several:
        lines.append(f"{counted(result.n_several, 'query', 'queries')} without one official moment are left out.")
    if result.fresh is not None:
        lines.append(
            "Answers may be closer to official than to fresh moments without recall: a method that is trained on the "
            "dataset learns how its annotators place the ends. This difference is not in the verdict."
        )
    return lines


# -------------------------------------------------------------------------------------------------- report


def report(result: Contamination) -> Report:
    """Return the report of contamination."""
    headline = Finding((verdict(result),), level="serious" if result.signs else "note")
    blocks: list[Block] = [*map(Paragraph, limits(result)), recall_table(result)]
    blocks += [] if result.rounded is None else [rounded_table(result)]
    sections = [Section("recall", "Are official times met too exactly?", (*blocks, *drawings(result)))]
    if result.fresh is not None:
        tables = (
            fresh_table(result.fresh),
            paired_table(result.fresh.closeness, "official", "fresh", "Closeness, percent"),
        )
        sections.append(Section("fresh", "Are fresh annotations met as exactly?", tables))
    if result.probes:
        sections.append(
            Section("probes", "What do other sentences change?", tuple(map(partial(_probe, result), result.probes)))
        )
    return Report(
        title=f"Contamination of {result.source.get('path', 'predictions')} on {result.dataset}/{result.split}",
        question="Do the predictions recall official annotations?",
        facts=_facts(result),
        sections=tuple(sections),
        headline=headline,
        notes=tuple(notes(result)),
        signature=(
            f"{result.dataset}/{result.split}#{result.sha256[:8]}|contamination|intervals:{result.draws.resamples} "
            f"resamples of videos|permutations:{result.draws.permutations}|seed:{result.draws.seed}|v{__version__}"
        ),
        hashes=(
            *([(result.source["path"], result.source["sha256"])] if result.source else []),
            ("annotations", result.sha256),
        ),
    )


def _facts(result: Contamination) -> tuple[tuple[str, str], ...]:
    facts = [
        (
            "data",
            f"{result.dataset}/{result.split}: {counted(result.n_queries, 'query', 'queries')}; "
            f"with one official moment and an answer: {result.n_answered:,}",
        )
    ]
    if result.fresh is not None:
        queries = counted(result.fresh.n_queries, "answered query", "answered queries")
        facts.append(
            ("fresh annotations", f"{result.fresh.dataset}: {counted(result.fresh.n_moments, 'moment')} of {queries}")
        )
    if result.match is not None:
        facts.append(
            ("predictions", f"{result.source['path']}: {result.match.format}; {counted(result.match.rows, 'row')}")
        )
    return tuple(facts)


def recall_table(result: Contamination) -> Table:
    """Return the tests of exact recall."""
    rows = [_recall_row(side, test, result.p_holm.get(TEST_OF[side])) for side, test in result.recall.items()]
    return Table("Exact answers, percent of official times", _HEADINGS, (("", tuple(rows)),))


_HEADINGS = ("", "times", "exact", "95 % interval", "expected", "excess", "95 % interval", "p", "detectable")


def _recall_row(side: Side, test: ExactRecall | None, p: float | None) -> tuple[Cell, ...]:
    if test is None:
        return tuple(map(Cell, (TEST_OF[side], *[UNDEFINED] * (len(_HEADINGS) - 1))))
    texts = (
        TEST_OF[side],
        f"{test.n:,}",
        number(100 * test.share),
        low_to_high(test.share_ci95, times=100) or UNDEFINED,
        number(100 * test.expected),
        number(100 * test.excess, sign="+"),
        low_to_high(test.excess_ci95, times=100, sign="+") or UNDEFINED,
        UNDEFINED if p is None else p_number(p),
        number(100 * test.detectable, 1),
    )
    return tuple(map(Cell, texts))


def rounded_table(result: Contamination) -> Table:
    """Return the test of whole-second answers."""
    rounded = result.rounded
    assert rounded is not None  # noqa: S101 - the caller checks it
    headings = ("", "official", "within 0.5 s, %", "95 % interval", "times as many", "95 % interval", "p")
    texts = (
        "rounded moments",
        f"{rounded.n:,}",
        number(100 * rounded.share),
        low_to_high(rounded.share_ci95, times=100) or UNDEFINED,
        number(rounded.ratio),
        low_to_high(rounded.ratio_ci95) or UNDEFINED,
        p_number(result.p_holm["rounded moments"]),
    )
    caption = "Whole-second answers with both ends within half a second, against those that the neighbourhood predicts"
    return Table(caption, headings, (("", (tuple(map(Cell, texts)),)),))


def fresh_table(fresh: FreshEvidence) -> Table:
    """Return the same tests against fresh moments."""
    rows = [_recall_row(side, test, None if test is None else test.p) for side, test in fresh.recall.items()]
    caption = "The same answers against fresh moments, which nobody has memorised; p is not corrected"
    return Table(caption, _HEADINGS, (("", tuple(rows)),))


def paired_table(rows: tuple[PairedShare, ...], first: str, second: str, caption: str) -> Table:
    """Return figures in two conditions, in percent."""
    cells = tuple(
        tuple(
            map(
                Cell,
                (
                    share.name,
                    number(100 * share.first),
                    number(100 * share.second),
                    number(100 * share.difference, sign="+"),
                    low_to_high(share.ci95, times=100, sign="+") or UNDEFINED,
                    p_number(share.p),
                ),
            )
        )
        for share in rows
    )
    headings = ("", first, second, "difference", "95 % interval", "p, one-sided")
    return Table(caption, headings, (("", cells),))


def _probe(result: Contamination, probe: ProbeEvidence) -> Table:
    p = result.p_holm.get(f"probe {probe.name}")
    caption = (
        f"Probe {probe.name}, percent: {counted(probe.n_queries, 'query', 'queries')}, {percent(probe.same, 1)} of the "
        f"answers do not change; p of exact moments, corrected: {UNDEFINED if p is None else p_number(p)}"
    )
    return paired_table((probe.exact, *probe.others), "original", "probe", caption)


# -------------------------------------------------------------------------------------------------- figure


def drawings(result: Contamination) -> list[Drawing]:
    """Return the histogram of differences around 0."""
    tests = [test for side, test in result.recall.items() if side != "both" and test is not None]
    if not tests:
        return []
    caption = (
        "Answers by their difference from the official time, in cells of 0.1 s. The line is the fit to the cells "
        "beside 0; the bar at 0, in a stronger colour, has the exact answers. Recall of official times is a bar far "
        "above the line."
    )
    draw, rows = partial(figure, tests), [row for test in tests for row in numbers(test)]
    return [Drawing("contamination", "Differences around 0", caption, draw, lambda: rows)]


def numbers(test: ExactRecall) -> list[dict[str, Any]]:
    """Return the cells of one side."""
    columns = zip(test.difference_s[:, 0].tolist(), test.counts.tolist(), test.predicted.tolist(), strict=True)
    return [
        {"side": test.side, "difference_s": round(at, 1), "answers": count, "predicted": predicted}
        for at, count, predicted in columns
    ]


def figure(tests: list[ExactRecall]) -> Figure:
    """Draw the histograms, one below the other."""
    with drawing_style():
        drawing = new_figure(HEIGHT_IN * len(tests) / 2)
        for axes, test in zip(drawing.subplots(len(tests), 1, squeeze=False)[:, 0], tests, strict=True):
            at = test.difference_s[:, 0]
            colours = [METHOD if abs(cell) < CELL_S / 2 else METHOD_FAINT for cell in at]
            axes.bar(at, test.counts, width=0.9 * CELL_S, color=colours)
            axes.plot(at, test.predicted, color=ROLES["chance"].look.colour)
            axes.set_xlabel(f"predicted {test.side} - official {test.side}, s")
            axes.set_ylabel("answers")
            axes.set_ylim(bottom=0)
    return drawing
