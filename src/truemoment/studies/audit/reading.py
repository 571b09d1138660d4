"""An audit of prediction files: reads the splits, the predictions and the model's answers that it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from truemoment.base.boundary.caching import NO_CACHE, Cache
from truemoment.base.boundary.files import source_of
from truemoment.base.errors import UsageError
from truemoment.base.records import Annotations, Predictions
from truemoment.baselines.floors import answers_a_query
from truemoment.data.datasets import read_own_annotations
from truemoment.data.datasets.source import AnnotationSource, without_queries_of
from truemoment.data.formats import MatchReport, read_predictions
from truemoment.data.language import get_engine
from truemoment.evaluation.evaluate import resolve_measures, resolve_protocol
from truemoment.evaluation.measures import Measure
from truemoment.evaluation.protocols import Protocol
from truemoment.evaluation.uncertainty import stream
from truemoment.studies.audit.findings import read_gate
from truemoment.studies.audit.run import Audit, audit
from truemoment.studies.audit.setup import OF_MOMENTS, AuditSetup, Controls, MethodReads, Splits
from truemoment.studies.diagnosis.other_orders import in_other_orders
from truemoment.studies.diagnosis.randomised_video import SeesVideo, randomised

PredictionFile = Path | str | Predictions
"""A prediction file, or predictions that were read already."""

NO_OTHER_SPLITS = "other splits are read from a dataset or a file, found annotations of one split"

Read = Callable[[Path, Annotations], tuple[Predictions, MatchReport]]
"""Reads a prediction file."""

LoadModel = Callable[..., SeesVideo]
"""Opens the folder of a trained model: :func:`truemoment.learning.training.load_model`."""


def no_model(folder: Path, **_: Any) -> SeesVideo:  # noqa: ANN401 - of any loader
    """Refuse a model where nothing opens it."""
    raise UsageError(f"got the model {folder}, expected a function that opens it (load)")


@dataclass(frozen=True)
class RelatedFiles:
    """What an audit may read beside the predictions.

    Parameters
    ----------
    select_split
        Split on which floors are measured too; None for ``val``, if there is one.
    iid, iid_split
        Predictions on test-iid, and the name of that split.
    shuffled, text_only
        Predictions of the same model on shuffled videos, and without the frames.
    model, features
        Folder of the model (``truemoment train``), which then predicts on changed videos, and the features that it
        reads; None for those of its training.
    """

    select_split: str | None = None
    iid: PredictionFile | None = None
    iid_split: str = "test-iid"
    shuffled: PredictionFile | None = None
    text_only: PredictionFile | None = None
    model: Path | str | None = None
    features: str | None = None

    def __post_init__(self) -> None:
        """Refuse features without a model."""
        if self.features is not None and self.model is None:
            raise UsageError("--features: these are the features of a model; give its folder (--model)")

    def predictions(self) -> dict[str, PredictionFile]:
        """Return the prediction files that are given, by option."""
        files = {"iid": self.iid, "shuffled": self.shuffled, "text-only": self.text_only}
        return {option: file for option, file in files.items() if file is not None}


def audit_predictions(
    predictions: PredictionFile,
    annotations: AnnotationSource | Annotations,
    *,
    related: RelatedFiles | None = None,
    fit_split: str | None = None,
    fit_annotations: Path | Annotations | None = None,
    measures: str | Sequence[Measure | str] | None = None,
    protocol: str | Protocol | None = None,
    engine: str = "lexicon",
    resamples: int = 1000,
    permutations: int = 10_000,
    seed: int = 0,
    gate: str | None = None,
    reads: MethodReads | None = None,
    cache: Cache = NO_CACHE,
    read: Read = read_predictions,
    load: LoadModel = no_model,
    on_status: Callable[[str], None] = lambda _: None,
) -> Audit:
    """Read what an audit needs, and run it.

    Floors are fitted on `fit_split` or `fit_annotations`: by default on ``train``, with ``none`` on no split. `reads`
    declares what the method reads (:mod:`truemoment.studies.audit.declaration`). `load` opens the model of `related`.

    Raises
    ------
    UsageError, MissingFileError, InputError
        If the options do not fit each other or the annotations, or a file is missing or malformed.
    """
    related = RelatedFiles() if related is None else related
    conditions = () if gate is None else read_gate(gate)
    get_engine(engine)  # an unknown one is refused before files are read
    source = annotations if isinstance(annotations, AnnotationSource) else None
    reference = annotations if isinstance(annotations, Annotations) else annotations.read()
    on_status("reading predictions")
    answers, match = _read(predictions, reference, read)
    splits = _read_splits(source, reference, fit_split, fit_annotations, related.select_split)
    iid = None if related.iid is None else _read_iid(source, reference, related.iid, related.iid_split, read)
    protocol = resolve_protocol(protocol, reference)
    resolved = resolve_measures(measures, protocol, reference, answers)
    measure_list = tuple(measure for measure in resolved if measure.needs in OF_MOMENTS)
    controls = _read_controls(related, reference, match, read)
    sources = _sources(predictions, related.predictions())
    if related.model is not None:
        top, data_dir = answers_a_query(answers, measure_list), None if source is None else source.data_dir
        asked = _ask_model(
            load, related, controls, reference, top=top, seed=seed, data_dir=data_dir, on_status=on_status
        )
        controls, sources["model"] = asked
    setup = AuditSetup(
        annotations=reference,
        predictions=answers,
        measures=measure_list,
        protocol=protocol,
        match=match,
        splits=splits,
        iid=iid,
        controls=controls,
        engine=engine,
        resamples=resamples,
        permutations=permutations,
        cache=cache,
        reads=reads,
    )
    return audit(setup, seed=seed, conditions=conditions, sources=sources, on_status=on_status)


def _read(file: PredictionFile, annotations: Annotations, read: Read) -> tuple[Predictions, MatchReport | None]:
    return (file, None) if isinstance(file, Predictions) else read(Path(file), annotations)


def _read_splits(
    source: AnnotationSource | None,
    reference: Annotations,
    fit_split: str | None,
    fit_annotations: Path | Annotations | None,
    select_split: str | None,
) -> Splits:
    """Read the training split, the validation split and every other one that is there."""
    if isinstance(fit_annotations, Path) and source is None:
        fit_annotations = read_own_annotations(fit_annotations, None)
    if isinstance(fit_annotations, Annotations):
        train: Annotations | None = without_queries_of(reference, fit_annotations, "--fit-annotations")
    else:
        if source is None and fit_split not in {None, "none"}:
            raise UsageError(f"--fit-split {fit_split}: {NO_OTHER_SPLITS}")
        train = None if source is None else source.training(reference, fit_split, fit_annotations)
    others = () if source is None else source.other_splits(train)
    validation = next(
        (of for of in others if of.split == "val" and not set(of.query_id) & set(reference.query_id)), None
    )
    if select_split is not None:
        validation = _other_split(source, reference, select_split, "--select-split")
    foreign = fit_annotations is not None and train is not None and train.dataset != reference.dataset
    return Splits(train, validation, others, foreign)


def _other_split(source: AnnotationSource | None, reference: Annotations, split: str, option: str) -> Annotations:
    if source is None:
        raise UsageError(f"{option} {split}: {NO_OTHER_SPLITS}")
    return without_queries_of(reference, source.read(split), option)


def _read_iid(
    source: AnnotationSource | None, reference: Annotations, file: PredictionFile, split: str, read: Read
) -> tuple[Annotations, Predictions]:
    annotations = _other_split(source, reference, split, "--iid-split")
    return annotations, _read(file, annotations, read)[0]


def _read_controls(related: RelatedFiles, reference: Annotations, match: MatchReport | None, read: Read) -> Controls:
    shuffled, text_only = (
        None if file is None else _read(file, reference, read)[0] for file in (related.shuffled, related.text_only)
    )
    return Controls(shuffled, text_only, caution="" if match is None else " ".join(match.notes))


def _ask_model(
    load: LoadModel,
    related: RelatedFiles,
    controls: Controls,
    reference: Annotations,
    *,
    top: int,
    seed: int,
    data_dir: Path | None,
    on_status: Callable[[str], None],
) -> tuple[Controls, dict[str, str]]:
    """Return a model's predictions on original and changed videos as controls, and which model it is."""
    on_status("loading the model")
    folder = Path(related.model or "")
    grounder = load(folder, features=related.features, data_dir=data_dir)
    changed = randomised(grounder, reference.queries, top=top, seed=seed, on_status=on_status)
    rng = stream(seed, "queries in shuffled order")
    orders = in_other_orders(grounder, reference.queries, top=top, rng=rng, on_status=on_status)
    features = grounder.features
    caution = controls.caution or getattr(features, "caution", "")
    model = {
        "path": str(folder),
        "name": grounder.name,
        "features": "" if features is None else features.name,
    }
    return replace(controls, changed=changed, orders=orders, caution=caution), model


def _sources(predictions: PredictionFile, beside: Mapping[str, PredictionFile]) -> dict[str, Any]:
    """Return path and hash of each prediction file: of the audited one, and by option those beside it."""
    source = _source(predictions)
    found = {option: _source(file) for option, file in beside.items()}
    if "text-only" in found and "sha256" in source and found["text-only"].get("sha256") == source["sha256"]:
        raise UsageError(
            f"--text-only: {found['text-only']['path']} has the same content as the audited predictions, expected "
            "those of the same model without the frames"
        )
    return {**source, "beside": found} if found else source


def _source(file: PredictionFile) -> dict[str, Any]:
    if isinstance(file, Predictions):
        return {"path": file.name}
    return source_of(Path(file))
