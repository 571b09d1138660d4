"""Collecting films: the stages of each, and the results of all.

Every stage writes one file, complete or not at all, into the film's folder under ``parts``; the folder moves to
``films`` when all files are there. Whatever ends the program, the same command resumes after the last finished stage,
and the files are the same to the byte.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType

import msgspec

from truemoment.base.boundary.distribution import Engine, JobRunner, begin_worker, distribute
from truemoment.base.boundary.documents import json_text
from truemoment.base.boundary.files import sha256_of, write_bytes
from truemoment.base.boundary.folders import lock_folder, remove_leftovers
from truemoment.base.boundary.inputs import reading, updating
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import InputError, MissingPackageError, TrueMomentError, UsageError
from truemoment.collection import layout
from truemoment.collection.assembling import assemble
from truemoment.collection.layout import Collection, CollectSettings, FilmAbout, FilmReport, HearingEngine, film_folder
from truemoment.collection.same_film import BANDS
from truemoment.collection.soundtracks import duration_of
from truemoment.collection.stages import (
    Film,
    align_stage,
    bands_stage,
    report_stage,
    sentences_stage,
    speech_stage,
    subtitles_of,
    words_stage,
)
from truemoment.collection.tasks import FilmTask, files_of_tasks, refuse_missing
from truemoment.media.audio.sources import parse_source
from truemoment.media.speech.base import Recogniser
from truemoment.media.speech.opening import open_speech
from truemoment.media.speech.punctuation import ModelPunctuator
from truemoment.media.speech.subtitles import embedded
from truemoment.media.speech.transcripts import Transcript, read_transcript
from truemoment.media.video.files import identity_of

STAGES: MappingProxyType[str, Callable[[Film], bytes]] = MappingProxyType(
    {
        layout.ALIGNMENT: align_stage,
        BANDS: bands_stage,
        layout.SPEECH: speech_stage,
        layout.WORDS: words_stage,
        layout.SENTENCES: sentences_stage,
        layout.REPORT: report_stage,
    }
)
"""The file of each stage, and what makes its content, in order."""

SPOKEN = (layout.SPEECH, layout.WORDS, layout.SENTENCES)
"""Stages that a discarded film does not have."""

TITLES = MappingProxyType(
    {
        layout.ALIGNMENT: "aligning",
        BANDS: "bands of its sound",
        layout.SPEECH: "finding the narrator",
        layout.WORDS: "hearing words",
        layout.SENTENCES: "making sentences",
        layout.REPORT: "counting",
    }
)


@dataclass(frozen=True)
class CollectRecipe:
    """What is the same for all films: settings, and what hears words, as the command line writes it.

    Parameters
    ----------
    settings
        How sentences are made.
    speech
        Recogniser, as :func:`~truemoment.media.speech.opening.open_speech` reads it; "" where films have transcripts.
    punctuation
        Folder of a token classifier; None for rules.
    out
        Folder of the collection.
    """

    settings: CollectSettings
    speech: str
    punctuation: Path | None
    out: Path

    @property
    def collection(self) -> Collection:
        """What collection.json states."""
        punctuation = "" if self.punctuation is None else self.punctuation.name
        if not self.speech:
            return Collection(settings=self.settings, engine=HearingEngine("transcripts", "", punctuation))
        engine = opened(self.speech, self.settings.language)
        return Collection(settings=self.settings, engine=HearingEngine(engine.name, engine.fingerprint, punctuation))


@dataclass(frozen=True)
class DoneFilm:
    """A finished film, and whether an earlier command had done it."""

    task: FilmTask
    report: FilmReport
    done_before: bool


@dataclass(frozen=True)
class FailedFilm:
    """A film that could not be done, and why in one line."""

    task: FilmTask
    why: str


@dataclass
class Collected:
    """The outcome of collecting films."""

    collection: Collection
    films: list[DoneFilm] = field(default_factory=list)
    failed: list[FailedFilm] = field(default_factory=list)


Progress = Callable[[str, str], None]
"""Called with the name of a film and what is being done."""


def unseen(name: str, status: str) -> None:
    """Show no progress."""
    del name, status


@lru_cache(maxsize=1)
def opened(speech: str, language: str) -> Recogniser:
    """Return a recogniser, opened once a process."""
    engine = open_speech(speech, language=language)
    if isinstance(engine, Transcript):
        raise UsageError("--speech transcript:FILE: is for one film; a list names a transcript for each film")
    return engine


@lru_cache(maxsize=1)
def punctuator(folder: Path) -> ModelPunctuator:
    """Return a model of punctuation, opened once a process."""
    return ModelPunctuator(folder)


# ------------------------------------------------------------------------------------------------- one film


def collect_film(task: FilmTask, recipe: CollectRecipe, on_status: Progress = unseen) -> DoneFilm:
    """Do the stages of a film that are not done yet, and return its report."""
    subtitles = subtitles_of(task, recipe.settings)
    transcript = None if task.transcript is None else read_transcript(task.transcript)
    about = _about(task)
    name = film_folder(about, recipe.collection)
    out = OwnPath(recipe.out)
    final, folder = out / layout.FILMS / name, out / layout.PARTS / name
    if (final / layout.REPORT).is_file():
        return DoneFilm(task, layout.FoundFilm.at(final).report, done_before=True)
    engine = opened(recipe.speech, recipe.settings.language) if recipe.speech and transcript is None else None
    model = None if recipe.punctuation is None else punctuator(recipe.punctuation)
    film = Film(task, about, folder, recipe.settings, engine, transcript, model, subtitles)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        final.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made ({error.strerror})", path=folder) from None
    remove_leftovers(folder)
    try:
        write_bytes(folder / layout.ABOUT, json_text(msgspec.to_builtins(about)).encode())
        for file, stage in STAGES.items():
            if file in SPOKEN and film.discarded:
                continue
            if not (folder / file).is_file():
                on_status(about.name, TITLES[file])
                write_bytes(folder / file, stage(film))
    except TrueMomentError:
        with contextlib.suppress(OSError):
            folder.remove_tree()  # the same command would end in the same way
        raise
    if final.exists():  # a damaged one, without its report
        final.remove_tree()
    folder.rename(final)
    return DoneFilm(task, layout.FoundFilm.at(final).report, done_before=False)


def _about(task: FilmTask) -> FilmAbout:
    """Return what is known of a film before any work."""
    film, described = parse_source(task.film), parse_source(task.described)
    return FilmAbout(
        name=task.name,
        group=task.group,
        film=identity_of(film.path),
        film_stream=film.stream,
        described=identity_of(described.path),
        described_stream=described.stream,
        subtitles="" if task.subtitles is None else sha256_of(embedded(task.subtitles)[0]),
        transcript="" if task.transcript is None else sha256_of(task.transcript),
        duration_s=duration_of(film),
    )


def attempt(task: FilmTask, recipe: CollectRecipe) -> DoneFilm | FailedFilm:
    """Collect a film; return errors of its files as a value."""
    try:
        return collect_film(task, recipe)
    except (UsageError, MissingPackageError) as error:
        raise InputError(str(error)) from None  # an error of one argument, which travels between processes
    except TrueMomentError as error:
        return FailedFilm(task, str(error))
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:  # one film of hundreds does not end a night
        return FailedFilm(task, f"{task.film}: a bug of ours: {type(error).__name__}: {error}")


# ------------------------------------------------------------------------------------------------ all films


def collect_films(
    tasks: Sequence[FilmTask],
    recipe: CollectRecipe,
    *,
    engine: Engine = "local",
    workers: int | None = None,
    on_status: Progress = unseen,
) -> Collected:
    """Collect films into a folder, and write the results of all films in it.

    Parameters
    ----------
    tasks
        The films. A single one that cannot be done raises its error; of several, the others are done.
    recipe
        How.
    engine, workers
        Who does the work, as for an index.
    on_status
        Called with the film and the stage at work, where this process does it.
    """
    refuse_missing(tasks)
    collection = recipe.collection
    for task in tasks:
        for path in files_of_tasks([task]):
            reading(path)
    refuse_foreign(recipe.out)
    out = OwnPath(updating(recipe.out))
    out.refuse_links()
    with lock_folder(out):
        remove_leftovers(out)
        is_new = not (out / layout.COLLECTION).is_file()
        if not is_new:
            refuse_other_settings(out, collection)
        else:
            write_bytes(out / layout.COLLECTION, json_text(msgspec.to_builtins(collection)).encode())
        collected = Collected(collection)
        try:
            for result in _results(tasks, recipe, engine, workers, on_status):
                (collected.films if isinstance(result, DoneFilm) else collected.failed).append(result)  # type: ignore[arg-type]
        finally:
            parts = out / layout.PARTS
            if is_new and not collected.films and not (parts.is_dir() and any(parts.iterdir())):  # nothing to resume
                (out / layout.COLLECTION).unlink(missing_ok=True)
                for folder in (parts, out / layout.FILMS):
                    with contextlib.suppress(OSError):
                        folder.rmdir()
        if collected.films:
            with contextlib.suppress(OSError):  # films that failed or were interrupted are in it
                (out / layout.PARTS).rmdir()
            assemble(out)
    order = {task.name: number for number, task in enumerate(tasks)}
    collected.films.sort(key=lambda film: order[film.task.name])
    collected.failed.sort(key=lambda film: order[film.task.name])
    return collected


def _results(
    tasks: Sequence[FilmTask], recipe: CollectRecipe, engine: Engine, workers: int | None, on_status: Progress
) -> Iterator[DoneFilm | FailedFilm]:
    """Yield the outcome of each film."""
    if len(tasks) == 1 and engine == "local":
        yield collect_film(tasks[0], recipe, on_status)
        return
    work = JobRunner(
        do=partial(attempt, recipe=recipe),
        begin=begin_worker,
        given_up=_given_up,
        needs="the films under the same paths, and the recogniser",
    )
    yield from distribute(engine, iter(tasks), work, workers)


def _given_up(task: FilmTask, times: int) -> DoneFilm | FailedFilm:
    return FailedFilm(task, f"{task.film}: a worker died of it, {times} times")


def refuse_foreign(folder: Path) -> None:
    """Refuse a folder with other files, which is no collection."""
    out = OwnPath(folder)
    if not out.exists() or (out / layout.COLLECTION).is_file():
        return
    if not out.is_dir():
        raise InputError("is a file, expected a folder", path=out)
    foreign = next((path.name for path in out.iterdir() if not path.name.startswith(".")), None)
    if foreign is not None:
        problem = f"contains {foreign} and is no collection"
        raise InputError(problem, path=out, hint="give a new or empty folder: -o OUT")


def refuse_other_settings(out: OwnPath, collection: Collection) -> None:
    """Refuse to add films to a collection that was made with other settings or another engine."""
    earlier = layout.read_collection(out)
    for field_name in ("settings", "engine"):
        ours, theirs = (msgspec.to_builtins(getattr(record, field_name)) for record in (collection, earlier))
        for name, value in ours.items():
            if theirs[name] != value:
                problem = f"was collected with {name} {theirs[name]!r}, now {value!r}"
                raise InputError(problem, path=out / layout.COLLECTION, field=name, hint="give another folder: -o OUT")
