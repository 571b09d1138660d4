"""truemoment collect run: films, described tracks and subtitles in, grounded sentences out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from truemoment.base.boundary.text import short_line
from truemoment.base.errors import InputError, UsageError
from truemoment.base.request import In, Out, Request, number, option
from truemoment.cli import EXIT_CHECK_FAILED, binder
from truemoment.cli.collect.align import AlignmentOptions
from truemoment.cli.collect.options import Films, SentenceRules, SpeechOptions, settings_of
from truemoment.cli.delivery import deliver_log, suggest
from truemoment.cli.outputs import say, status_line
from truemoment.cli.parts import Output
from truemoment.studies.request import Workers


@dataclass(frozen=True, kw_only=True)
class CollectRequest(Request):
    """The folder of the collection."""

    out: In[Path] = option("Folder of the collection.", name="-o --out", metavar="OUT", required=True)
    at_least_films: int = number("Exit with status 1 if fewer films give sentences.", 0, 0)
    json_path: Out[Path | None] = option(
        "Write the report as JSON ('-': to standard output, and nothing else goes there).",
        name="--json",
        metavar="FILE",
    )
    quiet: bool = option("No report, and no progress on standard error.", False)


@binder.command("run")
def command(
    request: CollectRequest,
    films: Films,
    hearing: SpeechOptions,
    judging: SentenceRules,
    aligning: AlignmentOptions,
    processes: Workers,
) -> None:
    """Collect sentences of audio description from films: FILM with --described TRACK, or --list FILE.

    The described track is aligned with the film's own sound, the narrator is heard, dialogue is dropped
    by rules, and sentences with times are written to OUT. The same command resumes an interrupted one.

    Exit status 1 means that some films of a list could not be read, or that fewer than
    --at-least-films give sentences.

    \b
    truemoment collect run film.mp4 --described ad.mp3 --subtitles film.srt --speech whisper:FOLDER -o OUT
    truemoment collect run --list films.jsonl --speech whisper:FOLDER -o OUT --workers 4
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.collection import report as reports
    from truemoment.collection.pipeline import CollectRecipe, collect_films

    tasks = films.tasks(hearing.transcript)
    if not hearing.engine and any(task.transcript is None for task in tasks):
        raise UsageError("what hears the words? give --speech whisper:FOLDER, vosk:FOLDER or transcript:FILE")
    settings = settings_of(hearing, judging, aligning, delay_s=films.delay_s)
    output = Output(json_path=request.json_path, quiet=request.quiet)
    recipe = CollectRecipe(settings, hearing.engine, hearing.punctuation, request.out)
    with status_line(show=output.progress) as on_status:
        try:
            collected = collect_films(
                tasks,
                recipe,
                engine=processes.engine,
                workers=processes.workers,
                on_status=lambda name, what: on_status(f"{name}: {what}"),
            )
        except KeyboardInterrupt:
            click.echo("truemoment: finished stages are saved; the same command resumes from there", err=True)
            raise
    if collected.failed and not collected.films:
        others = f" (and {len(collected.failed) - 1:,} others)" if len(collected.failed) > 1 else ""
        raise InputError(collected.failed[0].why + others)
    where = str(request.out)
    deliver_log(reports.report(collected, where), lambda: reports.document(collected, where), output)
    for film in collected.failed:
        click.echo(short_line(f"not collected: {film.why}"), err=True)
    n_used = sum(not film.report.discarded for film in collected.films)
    if n_used:
        suggest("its biases:", ["truemoment", "bias", "--annotations", str(request.out / "annotations.jsonl")], output)
    if n_used < request.at_least_films:
        say(f"{n_used} films give sentences, expected at least {request.at_least_films}", err=True)
    if collected.failed or n_used < request.at_least_films:
        click.get_current_context().exit(EXIT_CHECK_FAILED)
