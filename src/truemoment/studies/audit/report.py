"""The report of an audit; every check adds its finding, tables, drawings and JSON keys."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from truemoment.base.boundary.documents import document_head
from truemoment.base.records import Annotations
from truemoment.report.charts import Clouds, Plot, StripChart
from truemoment.report.model import CAUTION_LABEL, LEVELS, Block, Drawing, Finding, Paragraph, Report, Section, Table
from truemoment.report.words import counted
from truemoment.studies.audit.checks import CHECKS
from truemoment.studies.audit.checks.base import SECTIONS
from truemoment.studies.audit.checks.reads import SENTENCE
from truemoment.studies.audit.checks.verdict_section import answer_table, floors_strip
from truemoment.studies.audit.entries import split
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.verdict import LITTLE
from truemoment.studies.evaluate import report as evaluation

if TYPE_CHECKING:
    from truemoment.studies.audit.run import Audit

SCHEMA = "truemoment/audit/2"

# ------------------------------------------------------------------------------------------- document


def document(audit: Audit) -> dict[str, Any]:
    """Return the JSON document of an audit; figures are fractions."""
    results = audit.results
    setup, whole, scores = results.setup, results.whole, results.scores
    train, validation = setup.splits.train, setup.splits.validation
    entries: dict[str, Any] = {
        **document_head(SCHEMA),
        "dataset": scores.dataset,
        "split": scores.split,
        "annotations": split(whole.annotations)
        | {
            "n_without_moment": int(whole.annotations.without_moment.sum()),
            "measured_sha256": scores.annotations_sha256,
        },
        "fit": None if train is None else split(train),
        "validation": None if validation is None else split(validation),
        "protocol": scores.protocol.name,
        "convention": scores.protocol.convention(),
        "predictions": audit.sources,
        "match": None if setup.match is None else setup.match.as_dict(),
        "touched": scores.touched,
        "headline": str(results.measure),
        "caution": setup.controls.caution,
    }
    for check in CHECKS:
        entries |= check.document(results)
    gate = [outcome._asdict() | {"condition": outcome.condition.text} for outcome in audit.outcomes]
    draws = {"resamples": setup.resamples, "permutations": setup.permutations, "seed": audit.seed}
    findings = [
        {name: value for name, value in vars(finding).items() if name != "ci95" or value is not None}
        for finding in audit.findings
    ]
    return entries | {"findings": findings, "gate": gate} | draws


# --------------------------------------------------------------------------------------------- report


def report(audit: Audit) -> Report:
    """Return the report of an audit for people."""
    results = audit.results
    setup = results.setup
    draws = f"intervals:{setup.resamples} resamples of videos|tests:{setup.permutations} swaps|seed:{audit.seed}"
    return Report(
        title=f"Audit of {setup.predictions.name} on {setup.annotations.dataset}, {setup.annotations.split}",
        question="Did the model find the moment, or guess it?",
        facts=tuple(_facts(audit)),
        headline=_block(audit.findings[0]),
        answer=(floors_strip(results), answer_table(results)),
        sections=tuple(_sections(audit)),
        notes=tuple(f"left out: {line}" for line in results.left_out),
        reading=tuple(_reading(audit)),
        signature=f"{results.scores.signature()}|{draws}",
        hashes=tuple(_hashes(audit)),
        files=tuple(_files(audit.sources)),
    )


def confident_and_wrong(predictions: str, words: Sequence[str]) -> str:
    """Return the command that shows the wrong answers of which a method is most sure, and then every query.

    Parameters
    ----------
    predictions
        The prediction file.
    words
        Options that name the annotations and the protocol.
    """
    return shlex.join(["truemoment", "browse", predictions, *words, "--view", "confident-and-wrong"])


def in_order(findings: Sequence[AuditFinding]) -> list[AuditFinding]:
    """Return the findings as a report lists them: the verdict, then the most serious ones first."""
    return [*findings[:1], *sorted(findings[1:], key=lambda finding: LEVELS.index(finding.level))]


def _block(finding: AuditFinding, section: str = "") -> Finding:
    title = next((check.title for check in CHECKS if check.name == finding.check), finding.check)
    return Finding((finding.verdict,), title, finding.level, finding.evidence, section)


def _sections(audit: Audit) -> Iterator[Section]:
    """Collect the findings, and the blocks of the checks: in each section tables, then drawings, then the rest."""
    by_section: dict[str, list[Block]] = {name: [] for name in SECTIONS}
    shown_in: dict[str, str] = {}
    for check in CHECKS:
        for name, blocks in check.blocks(audit.results).items():
            by_section[name] += blocks
            shown_in.setdefault(check.name, name)
    findings = (_block(finding, shown_in.get(finding.check, "")) for finding in in_order(audit.findings)[1:])
    yield Section("findings", "Other findings", tuple(findings), short="Findings")
    for name, title in SECTIONS.items():
        if blocks := by_section[name]:
            yield Section(name, title, tuple(sorted(blocks, key=_place)))
    gate = []
    for condition, passed, why in audit.outcomes:
        verdict = f"{condition.text} {'passes' if passed else 'fails'}{f': {why}' if why else ''}"
        gate.append(Finding((verdict,), condition.text, "good" if passed else "serious"))
    if gate:
        yield Section("gate", "Gate", tuple(gate))


def _place(block: Block) -> int:
    kinds = ((Table, Paragraph), (Drawing, Plot, Clouds), (StripChart,))
    return next((place for place, kind in enumerate(kinds) if isinstance(block, kind)), len(kinds))


# ---------------------------------------------------------------------------------- facts, hashes, terms


def _facts(audit: Audit) -> Iterator[tuple[str, str]]:
    """List what was audited, and what it was compared with."""
    results, sources = audit.results, audit.sources
    setup, splits, scores = results.setup, results.setup.splits, results.scores
    path = str(sources.get("path", setup.predictions.name))
    if setup.match is None:
        size = f"{counted(len(scores), 'query', 'queries')}, {counted(scores.n_videos, 'video')}"
        yield "data", f"{scores.dataset}/{scores.split}: {size}"
        yield "predictions", path
    else:
        yield from evaluation.facts(scores, setup.match, {"path": path})
    if nothing := int(results.whole.annotations.without_moment.sum()):
        yield (
            "abstaining",
            f"{counted(nothing, 'more query', 'more queries')} without a moment, used only for abstention",
        )
    yield "protocol", f"{setup.protocol.name}: {setup.protocol.summary}"
    learned = "without a training split: only those that do not need one"
    if splits.train is not None:
        learned = f"training split: {_sized(splits.train)}"
    yield "floors", f"{len(results.floors)} baselines that never see the video; {learned}"
    if results.declaration is not None:
        contradicted = "" if results.declaration.holds else ", which its answers contradict"
        yield "reads", f"{SENTENCE}{contradicted}"
    elif setup.reads is None and any(floor.reads == "paragraph" for floor in results.floors):
        yield "reads", "not declared; --reads sentence if the method reads one sentence at a time"
    if results.n_annotated:
        people = f"on {results.n_annotated:,} of {len(scores):,} queries, which several people annotated"
        yield "ceilings", f"agreement of people, {people}"
    if setup.iid is not None:
        yield "i.i.d. split", _sized(setup.iid[0])
    if "model" in sources:
        model = sources["model"]
        yield "model", f"{model['name']} ({model['path']}), features {model['features']}"
    if setup.controls.caution:
        yield CAUTION_LABEL, setup.controls.caution


def _sized(annotations: Annotations) -> str:
    """Return the name of a split, or of a file without splits, with its size."""
    name = annotations.dataset if annotations.split == "all" else annotations.split
    return f"{name} ({counted(annotations.n_queries, 'query', 'queries')})"


def _files(sources: Mapping[str, Any]) -> Iterator[str]:
    """List the paths of the predictions, of those beside them and of the model."""
    named = [sources, *sources.get("beside", {}).values(), *([sources["model"]] if "model" in sources else [])]
    return (str(source["path"]) for source in named if "path" in source)


def _hashes(audit: Audit) -> Iterator[tuple[str, str]]:
    setup, sources, whole = audit.results.setup, audit.sources, audit.results.whole.annotations
    if "sha256" in sources:
        yield "predictions", sources["sha256"]
    for option, source in sources.get("beside", {}).items():
        if "sha256" in source:
            yield f"predictions, {option}", source["sha256"]
    yield whole.split, whole.sha256
    if whole.without_moment.any():
        yield f"{whole.split}, queries with a moment", setup.annotations.sha256
    for split_ in (setup.splits.train, setup.splits.validation):
        if split_ is not None:
            yield split_.split, split_.sha256


def _reading(audit: Audit) -> Iterator[tuple[str, str]]:
    """Explain the terms of the report."""
    results, setup = audit.results, audit.results.setup
    yield from FLOORS
    if results.text_only is not None:
        yield "Text only", "The same model with the same prompts, without the frames. It counts as one of the floors."
    if setup.controls.changed:
        yield CHANGED_VIDEOS
    if setup.controls.moved:
        yield MOVED_MOMENTS
    if results.whole.predictions.status is not None:
        yield ANSWERS_IN_WORDS
    yield from FIGURES
    yield (
        "95 % interval",
        f"From {setup.resamples:,} resamples of the videos, not of the queries: queries of one video share its "
        "difficulties. They are studentised, so that they are valid for few videos too. They do not cover another "
        "training of the same model.",
    )
    yield (
        "p",
        f"The share of {setup.permutations:,} random swaps of two methods, video by video, that give a difference as "
        "large. Against several floors it is the largest p-value.",
    )


FLOORS = (
    (
        "Floor",
        "A baseline that never sees the video. It knows at most the sentence, the duration, and where moments lie in "
        "the training split. A score that a floor reaches does not show that a method looks at videos.",
    ),
    (
        "Own answers on other queries",
        "Each query gets the method's answer to a query of another video, as the same share of the video: of a random "
        "query, and of the one with the most similar sentence. The score that remains does not depend on the video. "
        "It shows that the answers lie where moments are common here, which may be luck.",
    ),
    (
        "Strongest floor",
        "For each measure, the floor with the highest score on this split. It is chosen on the split under test, so "
        "the interval of the difference allows for the choice.",
    ),
    (
        "Sentence network",
        "A small network that reads the sentence and the duration of the video, and predicts the moment with the "
        "highest expected score at each measure. It is trained twice, with two seeds; its score is their mean.",
    ),
)

CHANGED_VIDEOS = (
    "Changed videos",
    "The same model answers the same sentences on videos that are shuffled, played backwards, frozen, or replaced by "
    "another video. The references do not change, so a model that looks at the video loses on each. These predictions "
    "are controls and do not count among the floors.",
)

MOVED_MOMENTS = (
    "Moved moments",
    "The same method on longer or shorter videos in which the moments lie elsewhere. A method that finds them gives "
    "the moved moment; a guess stays at its seconds from the start or the end, or at its share of the video. The "
    "floors there are the blind baselines, and the method's own answers to the original videos where a guess has them.",
)

ANSWERS_IN_WORDS = (
    "Answers in words",
    "Fixed rules read them. An answer counts as unread if it has two possible readings, gives only one end of a "
    "moment, declines or contains no moment. An answer that there is no such moment is an abstention.",
)

FIGURES = (
    (
        "Better",
        "The 95 % intervals of the differences to all floors lie above 0. It means only: better than the baselines "
        "tried.",
    ),
    (
        "Skill",
        "(method - strongest floor) / (references - strongest floor). A method that finds a share of the moments and "
        f"guesses the others has that share as its skill. A skill below {LITTLE:g} is called little.",
    ),
    (
        "Ceiling",
        "The score of the best of all proposals (oracle), of the references clipped to their videos, and of people "
        "where several annotated.",
    ),
    (
        "Shortcut share",
        "The floor's figure over the method's: 0.8 means that a method without the video has 80 % of it, more than 1 "
        "that the floor is better. The two may hit different queries.",
    ),
    (
        "Detectable",
        "The smallest true difference that can be detected with 80 % power on a split like this. A smaller difference "
        "may exist without being detected, so “not decided” does not mean equal.",
    ),
    (
        "dR, AxIoU",
        "dR gives a hit less weight if its ends are further from the reference (Closer Look, 2021). AxIoU is the mean "
        "over ranks of the best IoU so far (Togashi et al., 2022).",
    ),
)
