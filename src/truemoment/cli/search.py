"""truemoment search: find the moments that a sentence describes, in one video or in many."""

from __future__ import annotations

import contextlib
import functools
import itertools
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from truemoment.cli.index import (
    EXIT_NOT_ALL,
    LEAST_FPS,
    MOST_FPS,
    Asked,
    build,
    device_option,
    index_of,
    model_option,
)
from truemoment.cli.options import (
    STANDARD_OUTPUT,
    data_options,
    output_options,
    refuse_outputs,
    told_path,
    write_json,
    write_text,
)
from truemoment.cli.search_answers import answer_queries, tell_of_long_ones
from truemoment.datasets.source import AnnotationSource, files_of
from truemoment.exceptions import InputError, MissingFileError, UsageError
from truemoment.text import as_text, one_line, short_line

if TYPE_CHECKING:
    from truemoment.reports.search import Answer
    from truemoment.searching.index import Index
    from truemoment.searching.retrieval import FirstStage
    from truemoment.video.encoders import Encoder
    from truemoment.video.frames import Outline

STANDARD_INPUT = "-"
EXAMPLE = 'truemoment search "a man opens a door" film.mp4'
TOP, TOP_OF_QUERIES = 5, 100
NMS = 0.3
NAME_BYTES = 80
"""Of a video's name that the files of its moments bear; their rank keeps them apart."""

APART_S = 5.0
"""So that the moments that are shown are different places of a video, not a place and its neighbours."""

MOST_APART_S = 1e6
"""Seconds: longer than any video."""

OF_QUERIES = {"out": "-o", "sentences": "--sentences", "proposals": "--proposals", "nms": "--nms"}
OF_A_SENTENCE = {
    "apart_s": "--apart",
    "csv_path": "--csv",
    "page": "--html",
    "thumbnails": "--thumbnails",
    "clips": "--clips",
    "candidates": "--candidates",
    "exact": "--exact",
    "style": "--table",
}
"""Options that go with one use only."""


@click.command("search")
@click.argument("words", nargs=-1, metavar='"QUERY" VIDEO|INDEX')
@click.option(
    "--top",
    type=click.IntRange(1, 10_000),
    metavar="K",
    help=f"Moments. [default: {TOP}; {TOP_OF_QUERIES} a query of a dataset]",
)
@click.option("--apart", "apart_s", type=float, metavar="S", help="Seconds between two at least. [default: 5]")
@click.option("--clips", type=click.Path(path_type=Path), metavar="DIR", help="Write each moment as a video.")
@click.option("--thumbnails", type=click.Path(path_type=Path), metavar="DIR", help="Write a picture of each moment.")
@click.option(
    "--csv",
    "csv_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the moments as CSV ('-': to standard output). Text that begins with = + - @ has ' before it, "
    "so that no spreadsheet computes it.",
)
@click.option("--html", "page", type=click.Path(path_type=Path), metavar="FILE", help="Write a page with pictures.")
@click.option(
    "--candidates",
    type=click.IntRange(min=1),
    metavar="N",
    help="Of many videos, those that are scored exactly after a first look at all. [default: 20]",
)
@click.option("--exact", is_flag=True, help="Score all videos exactly.")
@model_option
@click.option("--index", "index_path", type=click.Path(path_type=Path), metavar="DIR", help="Where a VIDEO's goes.")
@click.option("--fps", type=float, metavar="F", help="Frames a second of a VIDEO to look at, or rows of a file.")
@click.option("--partial", is_flag=True, help="Take a VIDEO that is damaged or cut off for what it still shows.")
@device_option
@data_options
@click.option("--sentences", type=click.Path(path_type=Path), metavar="FILE", help="Vectors of a dataset's queries.")
@click.option("--proposals", metavar="SCHEME", help="Of a dataset's queries. [default: the index's, or windowed-grid]")
@click.option("--nms", type=float, metavar="IOU", help="Of a dataset's queries: overlap of two at most. [default: 0.3]")
@click.option("-o", "--out", type=click.Path(path_type=Path), metavar="FILE", help="Predictions, .jsonl.")
@output_options
def command(
    words: tuple[str, ...],
    top: int | None,
    apart_s: float | None,
    clips: Path | None,
    thumbnails: Path | None,
    csv_path: Path | None,
    page: Path | None,
    candidates: int | None,
    exact: bool,
    model: str | None,
    index_path: Path | None,
    fps: float | None,
    partial: bool,
    device: str | None,
    dataset: str | None,
    annotations: Path | None,
    split: str | None,
    data_dir: Path | None,
    sentences: Path | None,
    proposals: str | None,
    nms: float | None,
    out: Path | None,
    json_path: Path | None,
    style: Literal["md", "latex"] | None,
    quiet: bool,
) -> None:
    """Find the moments that a sentence describes, best first.

    In a VIDEO, which is indexed first if it was not, or in an INDEX made by truemoment index. There
    always is a best moment: the score tells how well it fits, not whether it is there.

    With - for the sentence, one a line is read from standard input, and answered as it comes: the model
    is loaded once.

    With --dataset or --annotations in place of a sentence, every query of a split is answered, for
    truemoment evaluate; then features do as well: FILE.h5 with --sentences FILE.h5.

    \b
    truemoment search "a man opens a door" film.mp4
    truemoment search "a dog on the beach" videos.index --top 10 --clips found --html found.html
    truemoment search - videos.index
    truemoment search videos.index --annotations mine.jsonl -o preds.jsonl
    truemoment search CLIP_frames.h5 --sentences CLIP_sentences.h5 --dataset mad --split test -o preds.jsonl
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    if nms is not None and not 0 <= nms <= 1:
        raise UsageError(f"--nms: got {nms:g}, expected an IoU from 0 to 1")
    if apart_s is not None and not 0 <= apart_s <= MOST_APART_S:
        raise UsageError(f"--apart: got {apart_s:g}, expected seconds, 0 to {MOST_APART_S:,.0f}")
    if fps is not None and not LEAST_FPS <= fps <= MOST_FPS:
        raise UsageError(f"--fps: got {fps:g}, expected {LEAST_FPS:g} to {MOST_FPS:g} frames a second")
    if json_path == csv_path == STANDARD_OUTPUT:
        raise UsageError("--json and --csv: both to standard output, expected one of them")
    if page == STANDARD_OUTPUT:
        raise UsageError("--html: expected the name of a file")
    data = AnnotationSource(dataset, annotations, split, data_dir)
    of_queries = any(value is not None for value in (dataset, annotations, split))
    _refuse_others(of_queries)
    query, target = _words(words, of_queries=of_queries)
    several = query == STANDARD_INPUT
    if several and any(path is not None for path in (json_path, csv_path, page, clips, thumbnails)):
        raise UsageError("sentences of standard input are answered with tables: no --json, --csv, --html or pictures")
    show = not quiet and sys.stderr.isatty()
    inputs = [annotations, sentences, *files_of(dataset, data_dir), *_read_of(target, index_path)]
    refuse_outputs(inputs, [json_path, csv_path, page, out, thumbnails])
    refuse_outputs(inputs, [clips])  # which may go to the same folder as pictures
    refuse_files(("--clips", clips), ("--thumbnails", thumbnails))
    open_target = _Target(target, Asked(model, fps, None, device), index_path, partial, quiet=quiet)
    if of_queries:
        answer_queries(
            target,
            open_target.store(),
            open_target.encoder,
            data,
            fps=fps,
            sentences=sentences,
            proposals=proposals,
            nms=NMS if nms is None else nms,
            top=top or TOP_OF_QUERIES,
            out=out,
            json_path=json_path,
            quiet=quiet,
        )
        return
    index, only = open_target.open()
    find = functools.partial(
        _search,
        index,
        open_target,
        top=top or TOP,
        apart_s=APART_S if apart_s is None else apart_s,
        exact=exact,
        candidates=candidates,
        videos=only,
    )
    if several:
        # Somebody who types should wait before the first sentence, and not after each.
        open_target.encoder(index)
        corpus = None if exact else _first_look(index, only, candidates)
        for line in _lines(quiet=quiet):
            answers, _ = find(line, corpus=corpus)
            click.echo(f"\n{line}")
            _tell(answers, {}, style=style, quiet=quiet, table=True)
        return
    answers, scored = find(query)
    gone: dict[str, str] = {}
    answers = list(_looked_at(index, answers, gone, thumbnails, clips, pictures=page is not None, show=show))
    _write(query, answers, index, scored, csv_path=csv_path, page=page, json_path=json_path)
    places = {"clips": clips, "pictures": thumbnails, "page": page}
    _tell(answers, places, style=style, quiet=quiet, table=STANDARD_OUTPUT not in (json_path, csv_path))
    if not quiet:
        _tell_of_clips_among_films(clips, index)
        _tell_of_first_look(index, scored, only)
    for why in gone.values():
        click.echo(short_line(f"no pictures or clips: {why}"), err=True)
    if gone:
        click.get_current_context().exit(EXIT_NOT_ALL)


def _refuse_others(of_queries: bool) -> None:
    """Refuse options that go with the other use."""
    from click.core import ParameterSource

    context = click.get_current_context()
    wrong = OF_A_SENTENCE if of_queries else OF_QUERIES
    given = [o for name, o in wrong.items() if context.get_parameter_source(name) == ParameterSource.COMMANDLINE]
    if given:
        uses = ("one sentence", "the queries of a dataset")
        of, used = uses if of_queries else uses[::-1]
        raise UsageError(f"{', '.join(given)}: goes with {of}, and this asks for {used}")


def _words(words: tuple[str, ...], *, of_queries: bool) -> tuple[str, Path]:
    """Read the arguments: a sentence and where to search, or only that."""
    if of_queries:
        if len(words) != 1:
            raise UsageError(
                f"got {len(words)} arguments and a dataset, expected one: the index, video or features to search"
            )
        return "", Path(words[0])
    if len(words) != 2:
        hint = "a sentence stands in quotation marks" if len(words) > 2 else f"for example {EXAMPLE}"
        raise UsageError(f"got {len(words)} arguments, expected a sentence and a video or index; {hint}")
    query, target = words
    if as_text(query) != query:
        raise UsageError(f"got the sentence '{as_text(query)}', expected text in UTF-8")
    if not query.strip():
        raise UsageError("got an empty sentence, expected what to look for")
    if not Path(target).exists() and Path(query).exists():
        raise UsageError(f"the sentence comes first: truemoment search {shlex.join([target, query])}")
    return query, Path(target)


def _lines(*, quiet: bool) -> Iterator[str]:
    """Read sentences from standard input, as they come; whoever types is asked for the next one."""
    typed = sys.stdin.isatty() and not quiet
    for number in itertools.count(1):
        if typed:
            click.echo("\nsentence> ", nl=False, err=True)
        line = sys.stdin.buffer.readline()
        if not line:
            return
        try:
            sentence = line.decode().strip()
        except UnicodeDecodeError:
            raise InputError("expected text in UTF-8", path="standard input", line=number) from None
        if sentence:
            yield sentence


def _read_of(target: Path, index_path: Path | None) -> list[Path]:
    """Name what a search reads: a file, or an index and the films that it was made of."""
    from truemoment.searching.index import found_in
    from truemoment.searching.layout import is_index

    index = target if is_index(target) else index_path or index_of(target)
    if not is_index(index):
        return [target]
    lay = [Path(about.path) for _, about in found_in(index).values()]
    return [target, index, *lay, *(index.absolute().parent / path.name for path in lay)]


def refuse_files(*folders: tuple[str, Path | None]) -> None:
    """Refuse files, where folders are to be written into."""
    for option, folder in folders:
        if folder is not None and (folder == STANDARD_OUTPUT or (folder.exists() and not folder.is_dir())):
            raise UsageError(f"{option} {told_path(folder)}: expected a folder")


class _Target:
    """Where to search, opened when it is needed: an index, a video that gets one, or features.

    Parameters
    ----------
    path
        What was named.
    asked
        How videos are looked at, as far as it was said.
    index_path
        Where the index of a video goes; None: beside it.
    partial
        Whether to take a damaged video for what it still shows.
    quiet
        Whether to say nothing of an index that is made.
    """

    def __init__(self, path: Path, asked: Asked, index_path: Path | None, partial: bool, *, quiet: bool) -> None:
        self.path, self.asked, self.index_path = path, asked, index_path
        self.partial, self.quiet = partial, quiet
        self._encoder: Encoder | None = None

    def open(self) -> tuple[Index, list[str] | None]:
        """Open the index, and say which of its videos to search; None for all."""
        from truemoment.searching.index import Index
        from truemoment.searching.layout import is_index
        from truemoment.video import VIDEO_SUFFIXES

        if is_index(self.path):
            if self.index_path is not None or self.partial:
                raise UsageError(f"{told_path(self.path)} is an index, expected --index and --partial with a video")
            index = Index(self.path)
            if self.asked.fps not in (None, index.settings.fps):
                raise UsageError(
                    f"--fps: {told_path(self.path)} was made with {index.settings.fps:g}, got {self.asked.fps:g}"
                )
            return index, None
        if self.path.is_dir():
            inside = "videos in it" if any(of.suffix.lower() in VIDEO_SUFFIXES for of in self.path.iterdir()) else "it"
            made = told_path(index_of(self.path))
            raise UsageError(
                f"{told_path(self.path)}: is no index; index {inside} first: "
                f"truemoment index {shlex.quote(told_path(self.path))} -o {shlex.quote(made)}"
            )
        if not self.path.exists():
            raise MissingFileError(f"{told_path(self.path)}: no such video or index")
        return self._of_video()

    def _of_video(self) -> tuple[Index, list[str]]:
        """Open the index of a video, which is made if it is not there."""
        from truemoment.searching.index import Index, found_in
        from truemoment.searching.layout import is_index
        from truemoment.video import identity_of

        out = self.index_path or index_of(self.path)
        identity = identity_of(self.path)
        if is_index(out) and self.asked.fps is None:
            mine = [name for name, (_, about) in found_in(out).items() if about.identity == identity]
            if mine:
                return Index(out), mine
        show = not self.quiet and sys.stderr.isatty()
        if not self.quiet:
            click.echo(f"note: looking at {told_path(self.path)} once, kept in {told_path(out)}", err=True)
        _, report = build(
            (self.path,), out, asked=self.asked, engine="local", workers=None, partial=self.partial, show=show
        )
        for why in report.failed.values():
            raise InputError(why)
        for note in report.notes.values():
            click.echo(f"note: {one_line(note)}", err=True)
        index = Index(out)
        return index, [name for name in index if index.about(name).identity == identity]

    def encoder(self, index: Index) -> Encoder:
        """Load the model that an index was made with."""
        settings = index.settings
        encoder = self.asked.loader(index.path, settings).load()
        if encoder.fingerprint != settings.fingerprint:
            hint = f"give --model {shlex.quote(settings.model)}, or index anew"
            raise UsageError(
                f"{told_path(index.path)}: was made with {settings.encoder}#{settings.fingerprint[:8]}, and "
                f"{encoder.name}#{encoder.fingerprint[:8]} is another model; {hint}"
            )
        return encoder

    def store(self) -> Index | None:
        """Open the index, or return None for a file of features."""
        from truemoment.searching.layout import is_index
        from truemoment.video import VIDEO_SUFFIXES

        if self.path.suffix.lower() in VIDEO_SUFFIXES or is_index(self.path):
            return self.open()[0]
        return None


def _search(
    index: Index,
    target: _Target,
    query: str,
    *,
    top: int,
    apart_s: float,
    exact: bool,
    candidates: int | None,
    videos: list[str] | None,
    corpus: FirstStage | None = None,
) -> tuple[list[Answer], int]:
    """Search; return what was found, and how many videos were scored."""
    from truemoment.reports.search import Answer
    from truemoment.searching.retrieval import CANDIDATES, search_index

    if exact and candidates is not None:
        raise UsageError("got --exact and --candidates, expected one of them")
    encoder = target.encoder(index)
    tell_of_long_ones(encoder, [query])
    many = None if exact else candidates or CANDIDATES
    n_videos = len(index if videos is None else videos)
    vectors = encoder.sentences([query])
    found = search_index(index, vectors, top, apart_s=apart_s, candidates=many, videos=videos, first_stage=corpus)[0]
    answers = [Answer(k, of, Path(index.about(of.video_id).path)) for k, of in enumerate(found, start=1)]
    return answers, n_videos if many is None else min(many, n_videos)


def _first_look(index: Index, videos: list[str] | None, candidates: int | None) -> FirstStage | None:
    """Read what the first look at many videos needs; None where there is none."""
    from truemoment.searching.retrieval import CANDIDATES, FirstStage

    names = sorted(index if videos is None else videos)
    return FirstStage(index, names) if (candidates or CANDIDATES) < len(names) else None


def _looked_at(
    index: Index,
    answers: list[Answer],
    gone: dict[str, str],
    thumbnails: Path | None,
    clips: Path | None,
    *,
    pictures: bool,
    show: bool,
) -> Iterator[Answer]:
    """Take a picture of each moment, and cut it out, as asked; one whose film cannot be read comes without."""
    if thumbnails is None and clips is None and not pictures:
        yield from answers
        return
    from truemoment.files import atomic_write
    from truemoment.video.clips import cut_clip, thumbnail
    from truemoment.video.frames import outline_of

    outlines: dict[Path, Outline] = {}
    for answer in _followed(answers, show=show):
        of = answer.found
        try:
            path = index.path_of(of.video_id)
        except (InputError, MissingFileError) as error:
            gone[of.video_id] = str(error)
            yield answer
            continue
        looked_at = replace(answer, path=path)
        try:
            if path not in outlines:
                outlines[path] = outline_of(path, partial=True)
            if thumbnails is not None or pictures:
                picture = thumbnail(path, (of.start_s + of.end_s) / 2, outline=outlines[path])
                looked_at = replace(looked_at, picture=picture)
                if thumbnails is not None:
                    with _made(thumbnails / f"{_name_of(answer)}.jpg") as file, atomic_write(file) as stream:
                        stream.write(picture)
                    looked_at = replace(looked_at, thumbnail=thumbnails / f"{_name_of(answer)}.jpg")
            if clips is not None:
                with _made(clips / f"{_name_of(answer)}.mp4") as file:
                    cut_clip(path, file, of.start_s, of.end_s, outline=outlines[path])
                looked_at = replace(looked_at, clip=clips / f"{_name_of(answer)}.mp4")
        except InputError as error:
            if error.path != path:  # not the film is at fault, but what is written
                raise
            gone[of.video_id] = str(error)
        yield looked_at


def _followed(answers: list[Answer], *, show: bool) -> Iterable[Answer]:
    if not show:
        return answers
    from tqdm import tqdm

    return tqdm(answers, desc="pictures and clips", unit="moment", leave=False)


@contextlib.contextmanager
def _made(file: Path) -> Iterator[Path]:
    """Make the folder of a file that is to be written, and give the file; a folder that stays empty is removed."""
    from truemoment.folders import refuse_links

    folder = file.parent
    refuse_links(folder, file.name)
    is_new = not folder.exists()
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made ({error.strerror})", path=told_path(folder)) from None
    try:
        yield file
    except BaseException:
        if is_new:
            with contextlib.suppress(OSError):  # it holds something
                folder.rmdir()
        raise


def _name_of(answer: Answer) -> str:
    """Name the files of a moment: rank, video and start; file systems count the bytes of a name."""
    from truemoment.reports.search import clock

    hours, minutes, seconds = clock(answer.found.start_s).split(":")
    video = re.sub(r"[^\w.-]+", "_", answer.found.video_id).encode("utf-8", "replace")[:NAME_BYTES]
    of_video = video.decode("utf-8", "ignore").strip("._") or "video"
    return f"{answer.rank:02}-{of_video}-{hours}h{minutes}m{seconds}s"


def _write(
    query: str,
    answers: list[Answer],
    index: Index,
    scored: int,
    *,
    csv_path: Path | None,
    page: Path | None,
    json_path: Path | None,
) -> None:
    """Write the files that were asked for."""
    from truemoment.reports import search as report

    if csv_path == STANDARD_OUTPUT:
        click.echo(report.as_csv(query, answers), nl=False)
    elif csv_path is not None:
        write_text(csv_path, report.as_csv(query, answers))
    if page is not None:
        command = shlex.join(["truemoment", *sys.argv[1:]]) if sys.argv[1:2] == ["search"] else ""
        write_text(page, report.page(query, answers, index, command=command))
    if json_path is not None:
        write_json(json_path, report.document(query, answers, index, scored))


def _tell(
    answers: list[Answer],
    places: dict[str, Path | None],
    *,
    style: Literal["md", "latex"] | None,
    quiet: bool,
    table: bool,
) -> None:
    """Print the table, unless other things go to standard output, and where pictures and clips are."""
    from truemoment.reports import search as report

    if not answers:
        click.echo("note: no moment: the videos have no frame", err=True)
    if not table:
        return
    if answers:
        click.echo(report.table(answers, style=style or "plain", width=shutil.get_terminal_size((0, 0)).columns))
    for what, path in places.items():
        if path is not None and not quiet:
            click.echo(f"{what}: {told_path(path)}", err=style is not None)


def _tell_of_first_look(index: Index, scored: int, only: list[str] | None) -> None:
    """Say that only some of the videos were scored."""
    if scored < len(index) and only is None:
        told = f"note: a first look at {len(index):,} videos left {scored:,} to be scored; --exact scores all"
        click.echo(told, err=True)


def _tell_of_clips_among_films(clips: Path | None, index: Index) -> None:
    """Say that clips lie among the films of an index of a folder, which would take them for films."""
    if clips is None:
        return
    within = {Path(index.about(name).path).parent for name in index} & {clips.resolve(), *clips.resolve().parents}
    if within and (len(index) > 1 or any(index_of(folder) == index.path.resolve() for folder in within)):
        told = f"note: {told_path(clips)} lies among the videos of {told_path(index.path)}: indexed again as a folder, "
        click.echo(f"{told}it takes the clips for videos", err=True)
