"""truemoment meta ambiguity: figures and rankings under label noise."""

from __future__ import annotations

from dataclasses import dataclass

from truemoment.base.request import MOST_RESAMPLES, number, seed
from truemoment.cli import binder
from truemoment.cli.meta.options import finish, load, refuse, workers
from truemoment.cli.parts import Output, PageOutput
from truemoment.studies.meta.request import NoiseSource, SystemSource


@dataclass(frozen=True, kw_only=True)
class AmbiguityRequest(SystemSource):
    """The systems, and the noisy sets."""

    sets: int = number("Label noise: noisy sets per level.", 100, 2, MOST_RESAMPLES)
    seed: int = seed("the noise and of simulated systems")
    workers: int | None = workers()


@binder.command("ambiguity")
def command(request: AmbiguityRequest, noise: NoiseSource, page: PageOutput, output: Output) -> None:
    """Measure systems with noisy labels: how far figures move, and which systems change places.

    \b
    truemoment meta ambiguity runs/ --dataset charades-sta --split test
    truemoment meta ambiguity runs/ --dataset charades-sta --split test --annotators human-charades
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.evaluation.uncertainty import stream
    from truemoment.studies.meta.ambiguity import under_noise
    from truemoment.studies.meta.reports import StudyReport
    from truemoment.studies.meta.reports import ambiguity as reports

    refuse(output, page)
    models = noise.models(request.source.data_dir)
    systems = load(request, request.seed, output, page, need_predictions=True)
    studies = under_noise(
        systems,
        models,
        stream(request.seed, "ambiguity"),
        on_unknown=request.on_unknown,
        sets=request.sets,
        workers=request.workers,
        progress=output.progress,
    )
    finish([StudyReport.of(reports, study) for study in studies], output, page, seed=request.seed, systems=systems)
