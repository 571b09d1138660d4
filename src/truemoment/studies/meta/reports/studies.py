"""The report of one or several studies of measures, and its JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from truemoment.base.boundary.documents import document_head
from truemoment.base.version import __version__ as version
from truemoment.evaluation.head import head
from truemoment.report.model import Finding, Paragraph, Report, Section
from truemoment.report.words import counted, few
from truemoment.studies.meta.claims import claims
from truemoment.studies.meta.reports import agreement, ambiguity, axioms, power, selection, stability, theory, ties
from truemoment.studies.meta.reports import claims as of_claims
from truemoment.studies.meta.reports.reading import reading_of

if TYPE_CHECKING:
    from truemoment.studies.meta.loading import LoadedSystems
    from truemoment.studies.meta.reports.verdict import StudySummary
    from truemoment.studies.meta.studies import Studies

SCHEMA = "truemoment/meta/1"

QUESTION = "Which measure should a lab select by, and which differences between systems can be trusted?"


class StudyReport(NamedTuple):
    """A study in a report: its section for people, and its figures for programs."""

    section: Section
    document: dict[str, Any]

    @classmethod
    def of(cls, study: ModuleType, result: object) -> StudyReport:
        """Report the result of a study by its module here, e.g. ``agreement``."""
        return cls(study.section(result), study.document(result))

    @property
    def sentences(self) -> list[str]:
        """The findings."""
        return [one for block in self.section.blocks if isinstance(block, Finding) for one in block.sentences]

    @property
    def notes(self) -> list[str]:
        """How the study was done."""
        return [block.text for block in self.section.blocks if isinstance(block, Paragraph)]


def study_reports(studies: Studies) -> list[StudyReport]:
    """Return the report of every study that was made; the paper's claims, which use all studies, come last."""
    found: list[tuple[ModuleType, object]] = [
        (agreement, studies.agreement),
        (stability, studies.stability),
        *((ambiguity, one) for one in studies.ambiguity),
        (ties, studies.ties),
        (power, studies.power),
        (selection, studies.selection),
        (axioms, studies.axioms or None),
        (theory, studies.theory),
        (of_claims, claims(studies)),
    ]
    return [StudyReport.of(study, result) for study, result in found if result is not None]


def report(
    studies: Sequence[StudyReport],
    systems: LoadedSystems | None = None,
    *,
    seed: int = 0,
    verdict: StudySummary | None = None,
) -> Report:
    """Return what people read of one or several studies.

    Parameters
    ----------
    studies
        One or more.
    systems
        The systems; None for studies without.
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
    scores = None if systems is None else systems.systems.first
    return Report(
        title=_title(systems, studies),
        question=QUESTION,
        facts=_facts(systems),
        headline=headline,
        sections=sections,
        notes=tuple(notes),
        reading=reading_of(study.section.name for study in studies),
        signature=(f"{f'truemoment:{version}' if scores is None else scores.signature()}|seed:{seed}"),
        hashes=_hashes(systems),
    )


def _title(systems: LoadedSystems | None, studies: Sequence[StudyReport]) -> str:
    if systems is None:
        return " and ".join(study.section.short for study in studies)
    scores = systems.systems.first
    return f"{counted(len(scores.measures), 'measure')} on {scores.dataset}, {scores.split}"


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
    """Return what programs read of one or several studies; the parameters are those of :func:`report`.

    Returns
    -------
    dict
        ``schema``, version, data, convention, ``sources``, ``seed``, ``studies`` by name (each with its ``title``,
        ``said``, ``notes`` and its own figures), and ``verdict`` if there is one.
    """
    notes = [] if systems is None or verdict is not None else list(systems.notes)
    names = Report("", tuple(study.section for study in studies)).anchors
    begin = {**document_head(SCHEMA)} if systems is None else head(SCHEMA, systems.systems.first)
    found: dict[str, Any] = {
        "simulated": [] if systems is None else systems.simulated,
        "baselines": [] if systems is None else systems.baselines,
        **begin,
        "sources": [] if systems is None else systems.sources,
        "seed": seed,
        "studies": {
            name: {
                "title": study.section.title,
                "said": study.sentences,
                "notes": [*notes, *study.notes],
            }
            | study.document
            for name, study in zip(names, studies, strict=True)
        },
    }
    return found if verdict is None else found | {"verdict": verdict.document}
