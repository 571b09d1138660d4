"""The same model on changed videos (shuffled, reversed, frozen, exchanged), for several checks.

Answers on changed videos are controls. They are not blind baselines: a model that looks at a shuffled video still sees
much of it.
"""

from __future__ import annotations

from typing import NamedTuple

from truemoment.base.intervals import Floats
from truemoment.base.records import Predictions
from truemoment.evaluation.scores import Scores
from truemoment.report.words import counted, interval95_points, p_value, points
from truemoment.studies.audit.resampling import PairedDifference, intervals
from truemoment.studies.audit.results import Results
from truemoment.studies.audit.setup import ORIGINAL
from truemoment.studies.audit.shuffled import MAY_DIFFER, Displacement, compare_shuffled, n_differing

CHANGE_NAMES = {"shuffled": "segments shuffled", "reversed": "played backwards", "other-video": "another video"}
"""Descriptions of changes; other changes are written by their name."""


class Control(NamedTuple):
    """The same model on videos with one kind of change (:data:`truemoment.media.features.changed.CHANGES`)."""

    change: str
    answers: Predictions
    scores: Scores
    ci95: Floats  # (M, 2)
    displacement: Displacement
    fall: PairedDifference  # figures on the original videos less these
    original: Scores

    @property
    def words(self) -> str:
        """Description of the change."""
        return CHANGE_NAMES.get(self.change, self.change)

    def change_at(self, m: int) -> str:
        """Return the change of measure m from the original videos, with its interval and p-value, in words."""
        fall = self.fall
        return (
            f"{points(-fall.difference[m], sign='+')}, {interval95_points(-fall.ci95[m][::-1], sign='+')}, "
            f"{p_value(fall.p_holm[m])} (Holm)"
        )


class ChangedVideos(NamedTuple):
    """The same model on the original videos and on changed ones."""

    scores: Scores  # on the original videos
    ci95: Floats  # (M, 2)
    n_differing: int  # queries whose first answer is not the audited one, or with one of the two missing
    controls: tuple[Control, ...]

    @property
    def agrees(self) -> bool:
        """Whether the audited answers are the model's, except for a few that may differ by rounding."""
        return self.n_differing <= MAY_DIFFER * len(self.scores)

    @property
    def disagreement(self) -> str:
        """Sentence for a finding about answers that are not those of the file."""
        first_answers = counted(len(self.scores), "first answer", "first answers")
        return (
            f"The file differs from what the model predicts now in {self.n_differing:,} of {first_answers}, so this "
            "finding is not about the file."
        )


def changed_videos(results: Results) -> ChangedVideos | None:
    """Compare the model's answers on each kind of changed videos with its own on the original ones."""
    setup = results.setup
    if not setup.controls.changed:
        return None
    results.on_status("changed videos")
    predictions = setup.controls.changed[ORIGINAL]
    original = results.evaluate(predictions)
    changes = ((change, answers) for change, answers in setup.controls.changed.items() if change != ORIGINAL)
    controls = tuple(_control(results, change, answers, predictions, original) for change, answers in changes)
    differing = n_differing(setup.annotations, setup.predictions, predictions, ranking=setup.protocol.ranking)
    ci95 = intervals([original], results.stream("changed videos"), setup.resamples)[0]
    return ChangedVideos(original, ci95, differing, controls) if controls else None


def shuffled_control(results: Results) -> Control | None:
    """Compare the audited answers with those on shuffled videos; None if there are none."""
    setup, model = results.setup, results.cached(changed_videos)
    answers = setup.controls.shuffled
    if answers is None and model is not None and model.agrees:
        answers = setup.controls.changed.get("shuffled")
    return None if answers is None else _control(results, "shuffled", answers, setup.predictions, results.scores)


def controls(results: Results) -> tuple[Control, ...]:
    """Return each control once: shuffled videos of the audited file, and the other changes of the model."""
    of_file, model = results.cached(shuffled_control), results.cached(changed_videos)
    first = [] if of_file is None else [of_file]
    others = () if model is None else model.controls
    return (*first, *(control for control in others if of_file is None or control.change != of_file.change))


def _control(
    results: Results, change: str, answers: Predictions, predictions: Predictions, original: Scores
) -> Control:
    setup, scores = results.setup, results.evaluate(answers)
    return Control(
        change=change,
        answers=answers,
        scores=scores,
        ci95=intervals([scores], results.stream(f"control {change}"), setup.resamples)[0],
        displacement=compare_shuffled(setup.annotations, predictions, answers, ranking=setup.protocol.ranking),
        fall=results.paired(original, scores, f"fall {change}"),
        original=original,
    )
