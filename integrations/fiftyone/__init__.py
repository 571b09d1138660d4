"""A FiftyOne plugin: an audit's view of each query on the videos of a dataset. See docs/integrations.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fiftyone as fo
import fiftyone.operators as foo
from fiftyone.operators import types
from truemoment.base.errors import TrueMomentError
from truemoment.data.datasets.source import AnnotationSource

from .moments import FIELDS, Moment, moments_by_video


class LoadAudit(foo.Operator):
    """Add the moments of a prediction file to the samples of a video dataset."""

    @property
    def config(self) -> foo.OperatorConfig:
        """Return name and label of the operator."""
        return foo.OperatorConfig(name="load_audit", label="TrueMoment: show an audit", dynamic=False)

    def resolve_input(self, ctx: Any) -> types.Property:  # noqa: ANN401, ARG002 - FiftyOne's context
        """Return the form of the operator."""
        form = types.Object()
        form.str("predictions", label="Prediction file", required=True)
        form.str("annotations", label="Annotations (JSON Lines); or a dataset below")
        form.str("dataset", label="Dataset, as charades-cd")
        form.str("split", label="Split")
        form.str("data_dir", label="Folder of the datasets")
        form.bool("floors", label="Fit blind baselines and show the strongest", default=False)
        return types.Property(form, view=types.View(label="References, predictions, kinds of error"))

    def execute(self, ctx: Any) -> dict[str, Any]:  # noqa: ANN401 - FiftyOne's context
        """Compute the moments and add them to the samples; a sample is the video of its file's name."""
        given = {name: ctx.params.get(name) or None for name in ("annotations", "dataset", "split", "data_dir")}
        for name in ("annotations", "data_dir"):
            given[name] = given[name] and Path(given[name]).expanduser()
        try:
            source = AnnotationSource(**given)
            predictions = Path(ctx.params["predictions"]).expanduser()
            videos = moments_by_video(predictions, source, floors=bool(ctx.params.get("floors")))
        except TrueMomentError as error:
            return {"error": str(error)}
        n_samples = 0
        for sample in ctx.dataset.iter_samples(progress=False):
            moments = videos.get(Path(sample.filepath).stem)
            if moments is None:
                continue
            if sample.metadata is None:
                sample.compute_metadata()
            add(sample, moments)
            sample.save()
            n_samples += 1
        if ctx.delegated is False:
            ctx.ops.reload_dataset()
        return {"videos": n_samples, "videos_without_sample": len(videos) - n_samples, "error": None}

    def resolve_output(self, ctx: Any) -> types.Property:  # noqa: ANN401, ARG002 - FiftyOne's context
        """Return what is shown after the operator."""
        form = types.Object()
        form.int("videos", label="Videos with moments")
        form.int("videos_without_sample", label="Annotated videos that are not in the dataset")
        form.str("error", label="Error")
        return types.Property(form)


def add(sample: fo.Sample, moments: list[Moment]) -> None:
    """Add moments to a sample as fields of temporal detections, in frames."""
    for field in FIELDS:
        detections = [
            fo.TemporalDetection.from_timestamps(
                [of.start_s, of.end_s], sample=sample, label=of.label, confidence=of.confidence, **of.attributes
            )
            for of in moments
            if of.field == field and of.end_s > of.start_s
        ]
        if detections:
            sample[f"truemoment_{field}"] = fo.TemporalDetections(detections=detections)


def register(plugin: Any) -> None:  # noqa: ANN401 - FiftyOne's registry
    """Register the operator with FiftyOne."""
    plugin.register(LoadAudit)
