"""The report of one or several studies of measures, and its JSON document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from truemoment.base.boundary.documents import document_head
from truemoment.base.version import __version__ as version
from truemoment.evaluation.head import head
from truemoment.report.model import Cell, Finding, Paragraph, Report, Section, Table
from truemoment.report.words import counted, few
from truemoment.studies.meta.claims import Claim, claims
from truemoment.studies.meta.reports import agreement, ambiguity, axioms, power, selection, stability, theory, ties

if TYPE_CHECKING:
    from truemoment.studies.meta.all_studies import Studies
    from truemoment.studies.meta.loading import LoadedSystems
    from truemoment.studies.meta.reports.verdict import StudySummary

SCHEMA = "truemoment/meta/1"

QUESTION = "Which measure should a lab select by, and which differences between systems can be trusted?"


class StudyReport(NamedTuple):
    """A study in a report: its section, and its part of the JSON document."""

    section: Section
    document: dict[str, Any]

    @classmethod
    def of(cls, study: ModuleType, result: object) -> StudyReport:
        """Return the report of a result by the module of its study here, e.g. ``agreement``."""
        return cls(study.section(result), study.document(result))

    @property
    def sentences(self) -> list[str]:
        """The findings."""
        return [sentence for block in self.section.blocks if isinstance(block, Finding) for sentence in block.sentences]

    @property
    def notes(self) -> list[str]:
        """Notes on the method of the study."""
        return [block.text for block in self.section.blocks if isinstance(block, Paragraph)]


def study_reports(studies: Studies) -> list[StudyReport]:
    """Return the report of every study that was run; the paper's claims, which use all studies, come last."""
    results: list[tuple[ModuleType, object]] = [
        (agreement, studies.agreement),
        (stability, studies.stability),
        *((ambiguity, study) for study in studies.ambiguity),
        (ties, studies.ties),
        (power, studies.power),
        (selection, studies.selection),
        (axioms, studies.axioms or None),
        (theory, studies.theory),
    ]
    reports = [StudyReport.of(study, result) for study, result in results if result is not None]
    return [*reports, claims_report(claims(studies))]


def claims_report(claims: Sequence[Claim]) -> StudyReport:
    """Return the report of the AxIoU paper's claims with their outcomes here."""
    counts = Counter(claim.outcome for claim in claims)
    checked = counted(len(claims) - counts["not looked at"], "checked claim")
    rows = tuple(tuple(map(Cell, (claim.section, claim.statement, claim.outcome, claim.evidence))) for claim in claims)
    section = Section(
        "claims",
        "Do the AxIoU paper's findings hold here?",
        (
            Finding(
                (
                    f"Of {checked}, {counts['holds']} hold here, {counts['holds in part']} hold in part, and "
                    f"{counts['does not hold']} do not hold.",
                )
            ),
            Table("Claims and figures", ("section", "claim", "here", "figures"), (("", rows),), (0, 1, 2, 3)),
            Paragraph(
                "Claims of Togashi et al. 2022, written as comparisons of figures. The paper ranked six other systems. "
                "A claim holds in part if some of its cases do."
            ),
        ),
        "The paper's findings",
    )
    written = [
        {"section": claim.section, "claim": claim.statement, "outcome": claim.outcome, "found": claim.evidence}
        for claim in claims
    ]
    return StudyReport(section, {"claims": written})


def report(
    studies: Sequence[StudyReport],
    systems: LoadedSystems | None = None,
    *,
    seed: int = 0,
    verdict: StudySummary | None = None,
) -> Report:
    """Return the report of one or several studies.

    Parameters
    ----------
    studies
        One or more.
    systems
        The systems; None for studies without systems.
    seed
        Seed of all draws.
    verdict
        The answer over all studies; None for none.
    """
    sections = tuple(study.section for study in studies)
    if verdict is None:
        headline, notes = None, () if systems is None else systems.notes
    else:
        headline, notes = Finding((verdict.headline,)), verdict.notes
        sections = (*verdict.sections, *sections)
    title = " and ".join(study.section.short for study in studies)
    scores = None
    if systems is not None:
        scores = systems.systems.first
        title = f"{counted(len(scores.measures), 'measure')} on {scores.dataset}, {scores.split}"
    return Report(
        title=title,
        question=QUESTION,
        facts=_facts(systems),
        headline=headline,
        sections=sections,
        notes=tuple(notes),
        reading=reading_of(study.section.name for study in studies),
        signature=(f"{f'truemoment:{version}' if scores is None else scores.signature()}|seed:{seed}"),
        hashes=_hashes(systems),
    )


def _facts(systems: LoadedSystems | None) -> tuple[tuple[str, str], ...]:
    if systems is None:
        return ()
    scores = systems.systems.first
    data = f"{counted(len(scores), 'query', 'queries')}, {counted(scores.n_videos, 'video')}"
    return (
        ("data", f"{scores.dataset}/{scores.split}: {data}"),
        ("systems", f"{len(systems.systems)}: {few([name[:40] for name in systems.systems.names])}"),
    )


def _hashes(systems: LoadedSystems | None) -> tuple[tuple[str, str], ...]:
    if systems is None:
        return ()
    scores = systems.systems.first
    files = []
    for source in systems.sources:
        name, path = source["name"], source["path"]
        files.append((path if name in path else f"{name}: {path}", source["sha256"]))
    if scores.annotations_sha256:
        files.append((f"{scores.dataset}, {scores.split}", scores.annotations_sha256))
    return tuple(files)


def document(
    studies: Sequence[StudyReport],
    systems: LoadedSystems | None = None,
    *,
    seed: int = 0,
    verdict: StudySummary | None = None,
) -> dict[str, Any]:
    """Return the JSON document of one or several studies; the parameters are those of :func:`report`.

    Returns
    -------
    dict
        ``schema``, version, data, convention, ``sources``, ``seed``, ``studies`` by name (each with its ``title``,
        ``said``, ``notes`` and its own figures), and ``verdict`` if there is one.
    """
    notes = [] if systems is None or verdict is not None else list(systems.notes)
    names = Report("", tuple(study.section for study in studies)).anchors
    begin = {**document_head(SCHEMA)} if systems is None else head(SCHEMA, systems.systems.first)
    document: dict[str, Any] = {
        "simulated": [] if systems is None else systems.simulated,
        "baselines": [] if systems is None else systems.baselines,
        **begin,
        "sources": [] if systems is None else systems.sources,
        "seed": seed,
        "studies": {
            name: {"title": study.section.title, "said": study.sentences, "notes": [*notes, *study.notes]}
            | study.document
            for name, study in zip(names, studies, strict=True)
        },
    }
    return document if verdict is None else document | {"verdict": verdict.document}


_TERMS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "Measures in figures",
        (),
        "Blue is R@K, teal AxIoU@K, plum dR@K. Triangles mark an IoU above 0.3, circles 0.5, squares 0.7, diamonds "
        "no threshold; filled marks are for K = 1, hollow ones for 5, half-filled ones for 10. R@1 .5 is "
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
