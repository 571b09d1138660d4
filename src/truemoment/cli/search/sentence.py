"""truemoment search "QUERY" INDEX: the moments that a sentence describes, or that are like a picture."""

from __future__ import annotations

import itertools
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from truemoment.base.boundary.files import write_text
from truemoment.base.boundary.text import as_text, short_line
from truemoment.base.errors import InputError, UsageError
from truemoment.base.request import argument, number
from truemoment.cli import binder
from truemoment.cli.delivery import deliver, write_files
from truemoment.cli.index.videos import EXIT_NOT_ALL
from truemoment.cli.outputs import STANDARD_OUTPUT, progress_bar, refuse_outputs, say
from truemoment.cli.parts import Output, PageOutput, Threads
from truemoment.cli.search.parts import note, target_of
from truemoment.searching.listing import MomentListing
from truemoment.searching.narrowing import Narrowing
from truemoment.searching.request import MomentFiles, PictureQuery, RankingOptions, VideoIndexing
from truemoment.studies.request import Workers

if TYPE_CHECKING:
    from truemoment.searching.pictures import Pictures
    from truemoment.searching.run import FoundMoments

STANDARD_INPUT = "-"
EXAMPLE = 'truemoment search "a man opens a door" video.mp4'


@dataclass(frozen=True, kw_only=True)
class SearchWords(PictureQuery, VideoIndexing):
    """The sentence or picture, and what is searched."""

    words: tuple[str, ...] = argument(metavar='"QUERY" VIDEO|INDEX', required=False)

    @property
    def query(self) -> str:
        """The sentence; ``-`` for those of standard input."""
        return self.words[0]

    @property
    def path(self) -> Path:
        """The video or index."""
        return Path(self.words[-1])

    def check(self) -> None:
        """Refuse words that are no sentence and a video or index; a picture takes the place of the sentence."""
        if self.image is not None:
            if len(self.words) != 1:
                raise UsageError(f"got {len(self.words)} arguments with --image, expected a video or index alone")
            return
        if len(self.words) != 2:
            hint = "put the sentence in quotation marks" if len(self.words) > 2 else f"for example {EXAMPLE}"
            raise UsageError(f"got {len(self.words)} arguments, expected a sentence and a video or index; {hint}")
        query, target = self.words
        if as_text(query) != query:
            raise UsageError(f"got the sentence '{as_text(query)}', expected text in UTF-8")
        if not query.strip():
            raise UsageError("got an empty sentence, expected what to look for")
        if not Path(target).exists() and Path(query).exists():
            raise UsageError(f"the sentence comes first: truemoment search {shlex.join([target, query])}")

    def inputs(self) -> list[Path]:
        """Return the video or index."""
        return self.search_target(self.path).files()


@dataclass(frozen=True, kw_only=True)
class Cluster(Workers):
    """Who searches."""

    HEADING = "Workers"

    workers: int | None = number(
        "Number of workers of the Ray cluster, each of which searches a share of the videos. [default: all its cores]",
        None,
        1,
        10_000,
        rare=True,
    )


@binder.command("search")
def command(
    ranking: RankingOptions,
    listing: MomentListing,
    narrowing: Narrowing,
    files: MomentFiles,
    request: SearchWords,
    cluster: Cluster,
    _threads: Threads,
    output: Output,
) -> None:
    """Find the moments that a sentence describes, in which its words are said, or that are like a picture, best first.

    VIDEO is indexed first if it has no index; INDEX is made by truemoment index. The score shows how
    well a moment fits; the match shows whether it stands out from what unrelated sentences find.

    With - for the sentence, sentences are read from standard input, one a line, and answered as they
    come: the model is loaded once. -o FILE then has the moments of all of them on one timeline.

    The words page, split and sweep are commands. To search for such a word, write -- before it.

    \b
    truemoment search "a man opens a door" video.mp4
    truemoment search "a dog on the beach" videos.index --top 10 --clips found --html found.html
    truemoment search "a dog on the beach" film.mp4.index -o found.otio
    truemoment search videos.index --image dog.jpg
    truemoment search "a man opens a door" videos.index --then "a dog runs"
    truemoment search "may the force be with you" videos.index --said
    truemoment search - videos.index
    truemoment search page videos.index
    truemoment search split videos.index --annotations mine.jsonl -o preds.jsonl
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.searching.query_picture import QueryPicture
    from truemoment.searching.run import find_like, find_moments, timeline_text
    from truemoment.searching.session import open_session

    if output.json_path == files.csv == STANDARD_OUTPUT:
        raise UsageError("--json and --csv: both to standard output, expected one of them")
    listing.check_beside(said=ranking.said, has_picture=request.image is not None)
    picture = None if request.image is None else QueryPicture.read(Path(request.image))
    lines = picture is None and request.query == STANDARD_INPUT
    no_files = replace(files, start=None, names_only=False, out=None) == MomentFiles()
    if lines and not (no_files and output.json_path is None):
        raise UsageError(
            "sentences of standard input are answered with tables and -o: no --json, --csv, --html or pictures"
        )
    for folder in (files.clips, files.thumbnails):  # which may be the same
        refuse_outputs(request.inputs(), [folder])
    target = target_of(request, request.path, quiet=output.quiet)
    with open_session(target, ranking, cluster.engine, cluster.workers, narrowing) as session:
        if not lines:
            result = find_moments(session, request.query, listing) if picture is None else find_like(session, picture)
            _deliver_with_files(result, files, output)
            return
        session.load()  # so that a user waits once, before the first sentence
        answers = []
        for sentence in _lines(quiet=output.quiet):
            answers.append(find_moments(session, sentence, listing))
            say(f"\n{sentence}")
            _deliver(answers[-1], files, output)
        if files.out is not None:
            write_text(files.out, timeline_text(answers, files.out, start=files.start, names_only=files.names_only))
            say(f"moments: {files.out}", err=output.style is not None)


def _deliver_with_files(result: FoundMoments, files: MomentFiles, output: Output) -> None:
    """Write the moments, with the files that the options ask for."""
    from truemoment.searching import report as reports
    from truemoment.searching.run import write_moments

    result, pictures = write_moments(result, files, progress_bar("pictures and clips", "moment", show=output.progress))
    if files.csv == STANDARD_OUTPUT:
        click.echo(result.csv(), nl=False)
    _deliver(result, files, output)
    if not output.quiet:
        _note_places(pictures, result, files, output)
        if ending := reports.ending(result.answer, result.models, result.n_searched):
            note(ending)
    for why in pictures.failed.values():
        click.echo(short_line(f"no pictures or clips: {why}"), err=True)
    if pictures.failed:
        click.get_current_context().exit(EXIT_NOT_ALL)


def _deliver(result: FoundMoments, files: MomentFiles, output: Output) -> None:
    """Write the table, the document and the page, and the words that the model does not know."""
    if not result.moments and not result.listing.must_stand_out:
        note(result.no_moment)
    report, page = result.report(), PageOutput(html=files.html)
    if files.csv == STANDARD_OUTPUT:
        write_files(report, result.document, output, page)
        for line in report.notes:
            note(line)
    else:
        deliver(report, result.document, output, page)


def _note_places(pictures: Pictures, result: FoundMoments, files: MomentFiles, output: Output) -> None:
    """Write where clips, pictures and moments are, and whether clips lie among the videos."""
    for what, path in (("clips", pictures.clips), ("pictures", pictures.thumbnails), ("moments", files.out)):
        if path is not None:
            say(f"{what}: {path}", err=output.style is not None or output.json_only)
    if pictures.among_videos():
        where = f"{pictures.clips or Path()} is in the folder of the videos of {result.index.path}"
        note(f"{where}: if the folder is indexed again, the clips are indexed as videos")


def _lines(*, quiet: bool) -> Iterator[str]:
    """Read sentences from standard input, as they come, with a prompt on a terminal."""
    typed = sys.stdin.isatty() and not quiet
    for line_number in itertools.count(1):
        if typed:
            click.echo("\nsentence> ", nl=False, err=True)
        line = sys.stdin.buffer.readline()
        if not line:
            return
        try:
            sentence = line.decode().strip()
        except UnicodeDecodeError:
            raise InputError("expected text in UTF-8", path="standard input", line=line_number) from None
        if sentence:
            yield sentence
