"""The same model on changed videos, which checks of several kinds look at: shuffled, reversed, frozen, exchanged.

Answers on changed videos are controls. They are no blind baselines: a model that looks may still know much of a
shuffled video.
"""

from __future__ import annotations

from typing import NamedTuple

from truemoment.base.intervals import Floats
from truemoment.base.records import Predictions
from truemoment.evaluation.scores import Scores
from truemoment.report.words import interval95_points, p_value, points
from truemoment.studies.audit.resampling import Paired, intervals
from truemoment.studies.audit.results import Results
from truemoment.studies.audit.setup import ORIGINAL
from truemoment.studies.audit.shuffled import MAY_DIFFER, Displacement, compare_shuffled, n_differing

CHANGE_NAMES = {"shuffled": "segments shuffled", "reversed": "played backwards", "other-video": "another video"}
"""How videos are changed, in words; other changes are written by their name."""


class Control(NamedTuple):
    """The same model on videos with one kind of change (:data:`truemoment.media.features.changed.CHANGES`)."""

    change: str
    answers: Predictions
    scores: Scores
    ci95: Floats  # (M, 2)
    displacement: Displacement
    fall: Paired  # of the figures on the original videos less these
    original: Scores

    @property
    def words(self) -> str:
        """How videos are changed, in words."""
        return CHANGE_NAMES.get(self.change, self.change)

    def change_at(self, m: int) -> str:
        """Write the change of measure m from the original videos, with its interval and p value."""
        fall = self.fall
        return (
            f"{points(-fall.difference[m], sign='+')}, {interval95_points(-fall.ci95[m][::-1], sign='+')}, "
            f"{p_value(fall.p_holm[m])} (Holm)"
        )


class Changed(NamedTuple):
    """The same model on the original videos and on changed ones."""

    scores: Scores  # on the original videos
    ci95: Floats  # (M, 2)
    n_differing: int  # queries whose first answer now is not the audited one, or one of the two is missing
    controls: tuple[Control, ...]

    @property
    def agrees(self) -> bool:
        """Whether the audited answers are the model's, but for some that another machine may round otherwise."""
        return self.n_differing <= MAY_DIFFER * len(self.scores)


def changed(results: Results) -> Changed | None:
    """Compare the model's answers on each kind of changed videos with its own on the original ones."""
    setup = results.setup
    if not setup.controls.changed:
        return None
    results.on_status("changed videos")
    now = setup.controls.changed[ORIGINAL]
    original = results.evaluate(now)
    changes = ((change, answers) for change, answers in setup.controls.changed.items() if change != ORIGINAL)
    found = tuple(_control(results, change, answers, now, original) for change, answers in changes)
    differing = n_differing(setup.annotations, setup.predictions, now, ranking=setup.protocol.ranking)
    ci95 = intervals([original], results.stream("changed videos"), setup.resamples)[0]
    return Changed(original, ci95, differing, found) if found else None


def shuffled(results: Results) -> Control | None:
    """Compare the audited answers with those on shuffled videos, if there are any."""
    setup, model = results.setup, results.cached(changed)
    answers = setup.controls.shuffled
    if answers is None and model is not None and model.agrees:
        answers = setup.controls.changed.get("shuffled")
    return None if answers is None else _control(results, "shuffled", answers, setup.predictions, results.scores)


def controls(results: Results) -> tuple[Control, ...]:
    """Return each control once: the shuffled videos of the audited file, and the other changes of the model."""
    of_file, model = results.cached(shuffled), results.cached(changed)
    found = [] if of_file is None else [of_file]
    others = () if model is None else model.controls
    return (*found, *(one for one in others if of_file is None or one.change != of_file.change))


def _control(results: Results, change: str, answers: Predictions, before: Predictions, original: Scores) -> Control:
    setup, scores = results.setup, results.evaluate(answers)
    return Control(
        change=change,
        answers=answers,
        scores=scores,
        ci95=intervals([scores], results.stream(f"control {change}"), setup.resamples)[0],
        displacement=compare_shuffled(setup.annotations, before, answers, ranking=setup.protocol.ranking),
        fall=results.paired(original, scores, f"fall {change}"),
        original=original,
    )
