"""Read the splits, the predictions and the model's answers of an audit, and run it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truemoment.base.boundary.caching import Cache
from truemoment.base.boundary.files import source_of
from truemoment.base.errors import UsageError
from truemoment.base.records import Annotations, Predictions
from truemoment.baselines.floors import answers_a_query
from truemoment.data.datasets.source import AnnotationSource, without_queries_of
from truemoment.data.formats import MatchReport
from truemoment.data.language import get_engine
from truemoment.evaluation.evaluate import resolve_measures, resolve_protocol
from truemoment.evaluation.uncertainty import stream
from truemoment.studies.audit.findings import read_gate
from truemoment.studies.audit.moved import Moved, predict_on_moved, read_moved
from truemoment.studies.audit.order_following import in_other_orders
from truemoment.studies.audit.request import AuditRequest
from truemoment.studies.audit.run import Audit, audit
from truemoment.studies.audit.setup import OF_MOMENTS, AuditSetup, Controls, Splits
from truemoment.studies.audit.shuffled import SeesVideo, predict_on_changed
from truemoment.studies.request import NO_OTHER_SPLITS, is_file, named_value, path_of

if TYPE_CHECKING:
    from truemoment.studies.request import AnyPredictions

LoadModel = Callable[..., SeesVideo]
"""Opens the folder of a trained model: :func:`truemoment.learning.training.load_model`."""


def no_model(folder: Path, **_: Any) -> SeesVideo:  # noqa: ANN401 - of any loader
    """Refuse a model, because no function that opens it was passed."""
    raise UsageError(f"got the model {folder}, expected a function that opens it (load)")


def run(request: AuditRequest, *, load: LoadModel = no_model, cache: Cache | None = None) -> Audit:
    """Read the inputs of an audit and run it.

    `load` opens the model of the request. `cache` replaces the user's cache of floors.

    Raises
    ------
    UsageError, MissingFileError, InputError
        If the options do not fit each other or the annotations, or a file is missing or malformed.
    """
    conditions = () if request.gate is None else read_gate(request.gate)
    get_engine(request.engine)  # an unknown one is refused before files are read
    where = request.origin
    source = where if isinstance(where, AnnotationSource) else None
    reference = where if isinstance(where, Annotations) else where.read()
    request.on_status("reading predictions")
    answers, match = _read(request, request.predictions, reference)
    splits = _read_splits(source, reference, request)
    iid = None
    if request.iid is not None:
        iid_split = _other_split(source, reference, request.iid_split, "--iid-split")
        iid = iid_split, _read(request, request.iid, iid_split, "iid")[0]
    protocol = resolve_protocol(request.protocol, reference)
    resolved = resolve_measures(request.measures, protocol, reference, answers)
    measures = tuple(measure for measure in resolved if measure.needs in OF_MOMENTS)
    controls = _read_controls(request, reference, match)
    sources = _sources(request)
    if request.model is not None:
        controls, sources["model"] = _predict_with_model(
            load, request, controls, reference, top=answers_a_query(answers, measures)
        )
    setup = AuditSetup(
        annotations=reference,
        predictions=answers,
        measures=measures,
        protocol=protocol,
        match=match,
        splits=splits,
        iid=iid,
        controls=controls,
        engine=request.engine,
        resamples=request.resamples,
        permutations=request.permutations,
        cache=request.cache(request.on_warning) if cache is None else cache,
        reads=request.reads,
    )
    return audit(setup, seed=request.seed, conditions=conditions, sources=sources, on_status=request.on_status)


def _read(
    request: AuditRequest, file: AnyPredictions, annotations: Annotations, name: str = "predictions"
) -> tuple[Predictions, MatchReport | None]:
    """Return predictions, and how those of a file match; errors of a value call it `name`."""
    read = request.settled(request.on_warning)
    predictions, match = read(named_value(file, name), annotations, progress=request.progress)
    return predictions, match if is_file(file) else None


def _read_splits(source: AnnotationSource | None, reference: Annotations, request: AuditRequest) -> Splits:
    """Read the training split, the validation split and all other splits of the dataset."""
    train = request.training(source or reference, reference)
    others = () if source is None else source.other_splits(train)
    validation = next(
        (other for other in others if other.split == "val" and not set(other.query_id) & set(reference.query_id)), None
    )
    if request.select_split is not None:
        validation = _other_split(source, reference, request.select_split, "--select-split")
    foreign = request.fit_annotations is not None and train is not None and train.dataset != reference.dataset
    return Splits(train, validation, others, foreign)


def _other_split(source: AnnotationSource | None, reference: Annotations, split: str, option: str) -> Annotations:
    if source is None:
        raise UsageError(f"{option} {split}: {NO_OTHER_SPLITS}")
    return without_queries_of(reference, source.read(split), option)


def _read_controls(request: AuditRequest, reference: Annotations, match: MatchReport | None) -> Controls:
    shuffled, text_only = (
        None if file is None else _read(request, file, reference, name)[0]
        for name, file in (("shuffled", request.shuffled), ("text_only", request.text_only))
    )
    moved = {}
    for folder, file in request.changed.items():
        references = read_moved(Path(folder), reference)
        moved[folder] = Moved(references, _read(request, file, references, f"changed {folder}")[0])
    return Controls(shuffled, text_only, moved=moved, caution="" if match is None else "; ".join(match.notes))


def _predict_with_model(
    load: LoadModel, request: AuditRequest, controls: Controls, reference: Annotations, *, top: int
) -> tuple[Controls, dict[str, str]]:
    """Return a model's predictions on original and changed videos as controls, and its path, name and features."""
    request.on_status("loading the model")
    folder = Path(request.model or "")
    queries = None if request.queries is None else str(request.queries)
    grounder = load(folder, features=request.features, queries=queries, data_dir=path_of(request.data_dir))
    options: dict[str, Any] = {"top": top, "on_status": request.on_status}
    changed = predict_on_changed(grounder, reference.queries, seed=request.seed, **options)
    moved = predict_on_moved(grounder, reference, request.change, seed=request.seed, **options)
    rng = stream(request.seed, "queries in shuffled order")
    orders = in_other_orders(grounder, reference.queries, rng=rng, **options)
    features = grounder.features
    caution = controls.caution or getattr(features, "caution", "")
    model = {"path": str(folder), "name": grounder.name, "features": "" if features is None else features.name}
    moved = {**controls.moved, **moved}
    return replace(controls, changed=changed, moved=moved, orders=orders, caution=caution), model


def _sources(request: AuditRequest) -> dict[str, Any]:
    """Return path and hash of the audited prediction file, and of each other one by option."""
    source = _source(request.predictions)
    files = {"iid": request.iid, "shuffled": request.shuffled, "text-only": request.text_only}
    files |= {f"changed {folder}": file for folder, file in request.changed.items()}
    related = {option: _source(file) for option, file in files.items() if file is not None}
    if "text-only" in related and "sha256" in source and related["text-only"].get("sha256") == source["sha256"]:
        raise UsageError(
            f"--text-only: {related['text-only']['path']} has the same content as the audited predictions, expected "
            "those of the same model without the frames"
        )
    return {**source, "beside": related} if related else source


def _source(file: AnyPredictions) -> dict[str, Any]:
    if is_file(file):
        return source_of(Path(file))
    return {"path": file.name if isinstance(file, Predictions) else "predictions"}
