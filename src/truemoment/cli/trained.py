"""What ``truemoment predict RUN`` does: answer a split with a trained method."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truemoment.cli.options import STANDARD_OUTPUT, files_of_run, refuse_outputs, source_file, told_path, write_json
from truemoment.datasets.source import AnnotationSource, files_of
from truemoment.exceptions import UsageError
from truemoment.text import printable

if TYPE_CHECKING:
    from truemoment.records import Queries


def answer(
    run: Path,
    data: AnnotationSource,
    features: str | None,
    change: str | None,
    *,
    out: Path,
    json_path: Path | None,
    limit: int | None,
    seed: int,
    quiet: bool,
) -> None:
    """Write what a trained method answers."""
    from truemoment.features.changed import WAYS, ChangedFeatures
    from truemoment.io import write_predictions
    from truemoment.training.grounder import load_grounder
    from truemoment.training.progress import unseen
    from truemoment.version import __version__

    if change is not None and change not in WAYS:
        raise UsageError(f"--change: unknown {change!r}, expected one of {', '.join(WAYS)}")
    if out.suffix.lower() not in (".jsonl", ".json"):
        raise UsageError(f"-o: got {told_path(out)}, expected a name that ends in .jsonl")
    inputs = [*files_of_run(run), data.annotations, source_file(features), *files_of(data.dataset, data.data_dir)]
    refuse_outputs(inputs, [out, json_path])
    show = not quiet and sys.stderr.isatty()
    method = load_grounder(run, features=features, data_dir=data.data_dir, follow=_follow if show else unseen)
    made_by = method.run.made_by
    if change is not None and change != "original":
        if method.features is None:
            raise UsageError(f"--change {change}: {method.name} sees no video")
        method = method.with_features(ChangedFeatures(method.features, change, seed))
        made_by |= {"videos": f"{change}, seed {seed}"}
    reference = data.read()
    queries = first_queries(reference.queries, limit)
    answers = method.ground(queries, top=method.run.recipe.decode.top)
    write_predictions(out, answers, reference, made_by=made_by)
    if json_path is not None:
        document: dict[str, Any] = {
            "schema": "truemoment/predict-run/1",
            "truemoment": __version__,
            "dataset": reference.dataset,
            "split": reference.split,
            "annotations_sha256": reference.sha256,
            "made_by": made_by,
            "seed": seed,
            "answered": len(answers),
            "predictions": told_path(out),
        }
        write_json(json_path, document)
    if not quiet:
        told = f"{len(answers):,} queries of {reference.dataset}/{reference.split} answered in {out}"
        click.echo(printable(f"{method.name}: {told}"), err=json_path == STANDARD_OUTPUT)
    unknown, n_words = method.unknown_words(queries)
    if unknown:
        click.echo(f"note: {unknown:,} of {n_words:,} words are unknown to {method.name}", err=True)
    for note in method.run.notes:
        click.echo(printable(f"note: {note}"), err=True)


def first_queries(queries: Queries, limit: int | None) -> Queries:
    """Return the first queries."""
    from truemoment.records import Queries

    columns = ("query_id", "video_id", "duration_s", "sentence")
    return Queries(*(getattr(queries, name)[:limit] for name in columns))


def _follow(items: Sequence[str], what: str) -> Any:  # noqa: ANN401 - a progress bar
    from tqdm import tqdm

    return tqdm(items, desc=what, leave=False)
