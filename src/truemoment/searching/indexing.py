"""Making and extending an index of videos, by one model or several."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from truemoment.base.boundary.distribution import Engine
from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.base.errors import UsageError
from truemoment.searching.building import IndexReport, Progress, build_index, ignore_progress
from truemoment.searching.codes import LEAST_PIECES, has_codes, make_codes
from truemoment.searching.encoder_options import EncoderOptions, names_model
from truemoment.searching.extraction import Loader
from truemoment.searching.index import Index, indexed_videos
from truemoment.searching.layout import MODELS, Settings, folder_name, is_index, read_settings
from truemoment.searching.manifest import write_manifest
from truemoment.searching.several_models import other_models
from truemoment.searching.speech import index_speech, write_passages
from truemoment.searching.unrelated import write_unrelated
from truemoment.searching.unrelated_pictures import write_unrelated_pictures
from truemoment.searching.writing import IndexWriter, list_videos


def index_videos(
    videos: Iterable[Path],
    out: Path,
    options: EncoderOptions,
    *,
    add_models: Sequence[str] = (),
    engine: Engine = "local",
    workers: int | None = None,
    partial: bool = False,
    codes: bool = False,
    subtitles: bool = False,
    on_progress: Progress = ignore_progress,
    on_status: Callable[[str], None] = lambda _: None,
) -> tuple[Settings, IndexReport]:
    """Make or extend an index of videos.

    Parameters
    ----------
    videos
        Files, and folders of them.
    out
        Folder of the index.
    options
        Model and frame rate. With `add_models`, frame rate and candidate moments are theirs.
    add_models
        Models to add to the index; those that it has are extended anyway.
    engine, workers, partial, on_progress
        As for :func:`~truemoment.searching.building.build_index`.
    codes
        Whether codes of the pieces are made (:mod:`truemoment.searching.codes`); a large index has them anyway.
    subtitles
        Whether what is said is read from files beside the videos (:mod:`truemoment.searching.sidecars`).
    on_status
        Receives what is being done.
    """
    files = list_videos(videos)
    if not out.absolute().parent.is_dir():
        raise UsageError(f"-o {out}: cannot be made, {out.parent} is no folder")
    first = replace(options, fps=None, proposals=None) if add_models else options
    if first != options and not is_index(out):
        raise UsageError("--fps and --proposals: are those of --add-model; make the index first, without --add-model")
    build = functools.partial(build_index, engine=engine, workers=workers, partial=partial, on_progress=on_progress)
    on_status("loading the model")
    settings = first.settings(out)
    others = list(_other_models(out, options, add_models, settings))  # loaded before the work, so that it fails early
    on_status("")
    with IndexWriter(out, settings) as writer:
        report = build(writer, files.videos, Loader(settings.model, options.device))
        report.others = tuple(files.others)
        known = (*report.plan.unchanged, *report.plan.to_read)
        if subtitles:
            on_status("reading subtitles")
            report.speech = index_speech(out, known)
            report.others = tuple(file for file in files.others if file.resolve() not in report.speech.paths)
            on_status("")
        _make_for_all(out, first, codes=codes, on_status=on_status)
        records = {name: about for name, (_, about) in indexed_videos(out).items()}
        paths = [video.path for video in known if video.video_id not in report.failed]
        for folder, model, made in others:
            with IndexWriter(folder, made, records) as other:
                report.by_model.append((made, build(other, paths, Loader(made.model, options.device))))
                _make_for_all(folder, model, codes=codes, on_status=on_status)
    return settings, report


def _other_models(
    out: Path, options: EncoderOptions, add_models: Sequence[str], first: Settings
) -> Iterator[tuple[OwnPath, EncoderOptions, Settings]]:
    """Yield folder, options and settings of each model but the first: of those that an index has, and of new ones."""
    left = list(add_models)
    for folder in other_models(out):
        made = read_settings(folder)
        given = next((text for text in left if names_model(text, made.model)), None)
        left = [text for text in left if text != given]
        model = replace(options, model=given) if given else EncoderOptions(device=options.device)
        model = replace(model, option="--add-model")
        yield folder, model, model.settings(folder)
    for text in left:
        model = replace(options, model=text, option="--add-model")
        encoder = model.loader(out, None).load()
        if encoder.fingerprint == first.fingerprint:
            raise UsageError(f"--add-model {text}: is the model of {out} already")
        folder = OwnPath(out) / MODELS / folder_name(f"{encoder.name}#{encoder.fingerprint}")
        yield folder, model, model.settings(folder)


def _make_for_all(out: AnyPath, options: EncoderOptions, *, codes: bool, on_status: Callable[[str], None]) -> None:
    """Make what an index has beside its videos: unrelated sentences; if it is large, a manifest and codes."""
    indexed = indexed_videos(out)
    write_manifest(out, {name: about for name, (_, about) in indexed.items()})
    if not indexed:
        return
    index = Index(out)
    write_passages(index)
    on_status("comparing with unrelated sentences and pictures")
    write_unrelated(index, options.encoder_of(index))
    write_unrelated_pictures(index)
    on_status("")
    if codes or has_codes(index) or sum(map(index.n_pieces, index)) >= LEAST_PIECES:
        on_status("coding the pieces")
        make_codes(index)
        on_status("")
