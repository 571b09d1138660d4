"""The methods of a comparison on changed videos: the fall of each score, and how far first answers move.

Source: Hidden Challenges (Otani et al. 2020), section 4 and Fig. 5, which shuffles segments. References are not moved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from truemoment.base.intervals import Floats
from truemoment.base.records import Predictions
from truemoment.baselines.floors import Setting
from truemoment.data.formats import Reader
from truemoment.evaluation.uncertainty import DrawSettings, holm, stream
from truemoment.studies.audit.resampling import PairedDifference, paired
from truemoment.studies.audit.shuffled import Displacement, compare_shuffled
from truemoment.studies.compare.request import PredictionInput
from truemoment.studies.compare.runs import FileRun, mean_interval, mean_scores, measure_runs


class ChangedMethod(NamedTuple):
    """A method on videos that are changed in one way.

    Parameters
    ----------
    way
        Name of the change, one of :data:`truemoment.media.features.changed.CHANGES`.
    method
        Name of the method.
    runs
        Runs on the changed videos.
    value, ci95 : (M,), (M, 2)
        Figures on the changed videos, and their 95 % intervals.
    fall
        Figures on the original videos less these; its corrected p-values are for all methods and ways.
    displacement
        Displacement of the first answers of the first run.
    """

    way: str
    method: str
    runs: Sequence[FileRun]
    value: Floats
    ci95: Floats
    fall: PairedDifference
    displacement: Displacement


def compare_changed(
    files: Mapping[tuple[str, str], Sequence[PredictionInput]],
    originals: Mapping[str, tuple[Sequence[FileRun], Predictions]],
    setting: Setting,
    depths: Sequence[int | None],
    *,
    testing: DrawSettings,
    read: Reader,
    progress: bool = False,
) -> list[ChangedMethod]:
    """Measure methods on changed videos, and compare each with itself on the original ones.

    Parameters
    ----------
    files
        Prediction files by (way, method).
    originals
        Runs of each method on the original videos, and the predictions of the first one.
    setting, depths
        Data, measures and depths of the original videos.
    testing, read, progress
        As for :func:`truemoment.studies.compare.files.compare_files`.
    """
    methods = []
    for (way, method), inputs in files.items():
        setting.on_status(f"{method} on {way} videos")
        predictions = [read(entry, setting.annotations, progress=progress) for entry in inputs]
        runs = measure_runs(predictions, inputs, setting, depths, progress=progress)
        original_runs, answers = originals[method]
        scores = mean_scores([run.scores for run in runs])
        fall = paired(
            mean_scores([run.scores for run in original_runs]),
            scores,
            stream(setting.seed, f"fall {way}"),
            resamples=testing.resamples,
            permutations=testing.permutations,
        )
        rng = stream(setting.seed, f"control {way}")
        methods.append(
            ChangedMethod(
                way,
                method,
                runs,
                np.array([scores.value(measure) for measure in scores.measures]),
                mean_interval([run.scores for run in runs], rng, resamples=testing.resamples),
                fall,
                compare_shuffled(setting.annotations, answers, predictions[0][0], ranking=setting.protocol.ranking),
            )
        )
    return _corrected(methods)


def _corrected(methods: list[ChangedMethod]) -> list[ChangedMethod]:
    """Correct p-values for all methods, ways and measures together (Holm)."""
    if not methods:
        return []
    p_values = holm(np.concatenate([method.fall.p for method in methods])).reshape(len(methods), -1)
    return [method._replace(fall=method.fall._replace(p_holm=p)) for method, p in zip(methods, p_values, strict=True)]
