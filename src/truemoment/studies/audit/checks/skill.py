"""The skill of the method: its share of the way from the strongest floor to the ceiling, and to people."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from truemoment.base.boundary.documents import Measured
from truemoment.evaluation.studentised import resample_ratios
from truemoment.evaluation.uncertainty import LEVEL, sums_by_video
from truemoment.report.model import Level
from truemoment.report.words import interval95, number
from truemoment.studies.audit.checks.base import Check
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.resampling import restrict
from truemoment.studies.audit.results import Results
from truemoment.studies.audit.verdict import LITTLE, NO_SKILL

NAME = "skill"


class HumanSkill(NamedTuple):
    """(method - strongest floor) / (people - strongest floor), over the queries that several people annotated."""

    title: str  # of the ceiling
    value: float  # NaN if undefined
    ci95: tuple[float, float]
    why: str  # reason for an undefined value; "" for a defined one


def against_people(results: Results) -> tuple[HumanSkill, ...]:
    """Compute the skill with each ceiling of people, at the headline measure.

    It is undefined unless people are shown to be above the strongest floor: the lower end of the interval of their
    difference is above 0.
    """
    m, skills = results.headline, []
    for ceiling in results.ceilings:
        if not ceiling.name.startswith("human"):
            continue
        counts = ceiling.scores.weight[m] > 0
        systems = results.scores, results.strongest_scores, ceiling.scores
        own, floor, people = (sums_by_video(restrict(system, counts))[0][:, m] for system in systems)
        weight = sums_by_video(restrict(results.scores, counts))[1][:, m]
        drawn = resample_ratios(
            np.stack([own - floor, people - floor], axis=1),
            np.stack([people - floor, weight], axis=1),
            results.stream(f"skill {ceiling.name}"),
            resamples=results.setup.resamples,
        )
        low, high = drawn.bounds(LEVEL)
        why = "" if low[1] > 0 else "people are not shown to be above the strongest floor"
        value = float(drawn.value[0]) if not why else float("nan")
        skills.append(HumanSkill(ceiling.title, value, (float(low[0]), float(high[0])), why))
    return tuple(skills)


def look(results: Results) -> AuditFinding:
    """State the skill at the headline measure."""
    verdict, m = results.verdict, results.headline
    skill, ci95 = float(verdict.skill[m]), verdict.skill_ci95[m]
    if not np.isfinite(skill):
        return AuditFinding(NAME, "note", f"The skill is undefined at {results.measure}: {NO_SKILL}.")
    level: Level = "good" if ci95[0] > 0 and not verdict.is_little(m) else "note" if ci95[0] > 0 else "warning"
    verdict_ = (
        f"Skill {number(skill)}, {interval95(ci95)}: the method covers {number(100 * skill, 0)} % of the way from "
        f"{results.strongest(m)} to the references at {results.measure}."
    )
    lines = [
        f"{measure}: skill {number(verdict.skill[i])}, {interval95(verdict.skill_ci95[i])}, from {results.strongest(i)}"
        for i, measure in enumerate(results.setup.measures)
        if np.isfinite(verdict.skill[i])
    ]
    for people in results.cached(against_people):
        value = people.why or f"{number(people.value)}, {interval95(np.array(people.ci95))}"
        lines.append(f"with people as the ceiling ({people.title}): {value}")
    lines.append("a method that finds a share of the moments and guesses the others has that share as its skill")
    lines.append(f"a skill below {LITTLE:g} is called little")
    ends = float(ci95[0]), float(ci95[1])
    return AuditFinding(NAME, level, verdict_, tuple(lines), skill, bool(ci95[0] > 0), ends)


def document(results: Results) -> dict[str, Any]:
    """Return the skill with people as the ceiling; the skill itself is part of the verdict."""
    return {
        "human_skill": [
            {"ceiling": people.title} | Measured(people.value, people.why, people.ci95).as_dict()
            for people in results.cached(against_people)
        ]
    }


CHECK = Check(
    name=NAME,
    title="Skill",
    looks_at="(method - strongest floor) / (references - strongest floor)",
    look=look,
    passes="its 95 % interval lies above 0",
    figure="the skill",
    document=document,
    against_floors=True,
)
