"""truemoment search: find the moments that a sentence describes, in one video or in many."""

from __future__ import annotations

import itertools
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truemoment.base.boundary.files import write_text
from truemoment.base.boundary.text import as_text, short_line
from truemoment.base.errors import InputError, UsageError
from truemoment.base.request import MOST_RESAMPLES
from truemoment.cli.binder import FILE
from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver, deliver_log, suggest, write_files
from truemoment.cli.groups import bound, data_options, of_record, output_options, workers_options
from truemoment.cli.index import EXIT_NOT_ALL, index_with_progress
from truemoment.cli.model_options import device_option, model_option
from truemoment.cli.options import count_option, seed_option
from truemoment.cli.outputs import STANDARD_OUTPUT, refuse_files, refuse_outputs, say, status_line
from truemoment.cli.parts import Output, PageOutput, Workers
from truemoment.cli.search_page import PageServing, SearchPageOptions, serve_search
from truemoment.cli.threads import threads_option
from truemoment.data.datasets.source import AnnotationSource
from truemoment.evaluation.measures import Measure, parse_measures
from truemoment.searching.encoder_options import EncoderOptions

if TYPE_CHECKING:
    from truemoment.searching.building import IndexReport
    from truemoment.searching.index import Index
    from truemoment.searching.pictures import Pictures, SearchResult
    from truemoment.searching.searcher import IndexSearcher, RankingOptions
    from truemoment.searching.session import SearchSession, SearchTarget
    from truemoment.searching.split_search import SplitSearch
    from truemoment.searching.stopping import RetrievedMoments

STANDARD_INPUT = "-"
EXAMPLE = 'truemoment search "a man opens a door" video.mp4'
TOP, TOP_OF_QUERIES = 5, 100
NMS = 0.3

MOST_APART_S = 1e6
"""Seconds: longer than any video."""

OF_QUERIES = {
    "sentences": "--sentences",
    "proposals": "--proposals",
    "nms": "--nms",
    "discount_s": "--discount",
    "sweep": "--sweep",
}
OF_A_SENTENCE = {
    "apart_s": "--apart",
    "csv_path": "--csv",
    "thumbnails": "--thumbnails",
    "clips": "--clips",
    "names_only": "--names",
    "start": "--start",
    "candidates": "--candidates",
    "exact": "--exact",
    "per_video": "--per-video",
    "engine": "--engine",
    "workers": "--workers",
    "style": "--table",
}
OF_A_PAGE = {
    "host": "--host",
    "port": "--port",
    "name": "--name",
    "certificate": "--certificate",
    "key": "--key",
    "behind_proxy": "--behind-proxy",
    "plain_http": "--plain-http",
    "guest": "--guest",
    "no_open": "--no-open",
    "collections": "--collections",
    "export_dir": "--export",
}
OF_A_SWEEP = {
    "lengths": "--lengths",
    "measures": "--measures",
    "figures": "--figures",
    "resamples": "--resamples",
    "seed": "--seed",
}
"""Options that go with one use only; --sweep is a use of its own."""


@dataclass(frozen=True)
class _ResultOptions:
    """Options of the moments."""

    top: int | None
    apart_s: float | None
    candidates: int | None
    exact: bool
    per_video: int | None

    def refuse(self) -> None:
        """Refuse times that no video has."""
        if self.apart_s is not None and not 0 <= self.apart_s <= MOST_APART_S:
            raise UsageError(f"--apart: got {self.apart_s:g}, expected seconds, 0 to {MOST_APART_S:,.0f}")

    def of_sentence(self) -> RankingOptions:
        """Return the ranking of the moments of a sentence."""
        from truemoment.searching.searcher import APART_S, RankingOptions

        apart_s = APART_S if self.apart_s is None else self.apart_s
        return RankingOptions(self.top or TOP, apart_s, self.exact, self.candidates, self.per_video)


@dataclass(frozen=True)
class _MomentFiles:
    """Options of the files of the moments."""

    clips: Path | None
    thumbnails: Path | None
    csv_path: Path | None
    page: Path | None
    names_only: bool
    start: str | None

    @property
    def any(self) -> bool:
        """Whether a file is written."""
        return any((self.clips, self.thumbnails, self.csv_path, self.page))


@dataclass(frozen=True)
class _Video:
    """Options of a video that is indexed first."""

    model: str | None
    index_path: Path | None
    fps: float | None
    partial: bool
    device: str | None

    def target(self, path: Path, output: Output) -> SearchTarget:
        """Return what is searched; a video is indexed with a progress bar."""
        from truemoment.searching.session import SearchTarget

        options = EncoderOptions(self.model, self.fps, None, self.device)

        def make_index(video: Path, out: Path) -> IndexReport:
            return index_with_progress((video,), out, options, show=output.progress, partial=self.partial)[1]

        note = _silent if output.quiet else _note
        return SearchTarget(path, options, self.index_path, partial=self.partial, note=note, make_index=make_index)


@dataclass(frozen=True)
class _QueryOptions:
    """Options of the queries of a split."""

    sentences: Path | None
    proposals: str | None
    nms: float | None
    discount_s: float | None
    out: Path | None

    def refuse(self) -> None:
        """Refuse what is no IoU, and no length of a moment."""
        if self.discount_s is not None and not 0 <= self.discount_s <= MOST_APART_S:
            raise UsageError(f"--discount: got {self.discount_s:g}, expected seconds, 0 to {MOST_APART_S:,.0f}")
        if self.nms is not None and not 0 <= self.nms <= 1:
            raise UsageError(f"--nms: got {self.nms:g}, expected an IoU from 0 to 1")

    def search(self, top: int | None, fps: float | None) -> tuple[SplitSearch, Path]:
        """Return how the queries are searched for, and the file of predictions."""
        if self.out is None:
            raise UsageError("where do the answers go? give -o FILE.jsonl")
        if self.out.suffix.lower() not in (".jsonl", ".json"):
            raise UsageError(f"-o: got {self.out}, expected a name that ends in .jsonl")
        return self.settings(top, fps), self.out

    def settings(self, top: int | None, fps: float | None) -> SplitSearch:
        """Return how the queries are searched for."""
        from truemoment.searching.split_search import SplitSearch

        nms = NMS if self.nms is None else self.nms
        return SplitSearch(self.sentences, self.proposals, fps, nms, top or TOP_OF_QUERIES, self.discount_s or 0.0)


@dataclass(frozen=True)
class _SweepOptions:
    """Options of a sweep over lengths."""

    sweep: bool
    lengths: str | None
    measures: str | None
    figures: Path | None
    resamples: int
    seed: int

    def refuse(self, *, of_queries: bool, files: _MomentFiles, out: Path | None) -> None:
        """Refuse options that do not fit together, and a folder that is a file."""
        from truemoment.searching.chunk_sweep import read_lengths

        if not self.sweep:
            _refuse_given(OF_A_SWEEP, "goes with --sweep")
            if of_queries and files.page is not None:
                raise UsageError(
                    "--html: goes with one sentence or with --sweep, and this asks for the queries of a dataset"
                )
            return
        if not of_queries:
            raise UsageError("--sweep: which queries? give --dataset NAME with --split NAME, or --annotations FILE")
        if out is not None:
            raise UsageError("-o: a sweep writes no predictions, expected --json, --html or --figures")
        _refuse_given({"discount_s": "--discount"}, "does not go with --sweep, which pools as MAD does")
        _refuse_given({"top": "--top"}, f"a sweep looks at {TOP_OF_QUERIES} moments of each query")
        refuse_files({"--figures": self.figures})
        if self.lengths is not None:
            read_lengths(self.lengths)
        self.parsed_measures()

    def parsed_measures(self) -> tuple[Measure, ...] | str:
        """Return the measures; those of MAD's figure if none are given."""
        from truemoment.searching.chunks import SWEPT

        return SWEPT if self.measures is None else parse_measures(self.measures)


@click.command("search", cls=Command)
@click.argument("words", nargs=-1, metavar='"QUERY" VIDEO|INDEX')
@count_option(
    "--top",
    None,
    f"Number of moments. [default: {TOP}; {TOP_OF_QUERIES} for each query of a dataset]",
    least=1,
    most=10_000,
    metavar="K",
)
@click.option(
    "--apart", "apart_s", type=float, metavar="S", help="Minimum time between two moments, seconds. [default: 5]"
)
@click.option("--clips", type=FILE, metavar="DIR", help="Write each moment as a video.")
@click.option("--thumbnails", type=FILE, metavar="DIR", help="Write a picture of each moment.")
@click.option(
    "--csv",
    "csv_path",
    type=FILE,
    metavar="FILE",
    help="Write the moments as CSV ('-': to standard output). Text that begins with = + - @ gets a ' before it, "
    "so that no spreadsheet computes it.",
)
@click.option("--html", "page", type=FILE, metavar="FILE", help="Write a page with pictures.")
@click.option("--names", "names_only", is_flag=True, help="Timelines name video files without their folders.")
@click.option(
    "--start", metavar="HH:MM:SS:FF", help="Time code of a video's first frame, for timelines. [default: its own]"
)
@count_option(
    "--candidates",
    None,
    "Number of videos that are scored exactly, after a first stage over all. [default: 20; of a calibrated index 40 at "
    "most]",
    least=1,
)
@click.option("--exact", is_flag=True, help="Score all videos exactly.")
@count_option(
    "--per-video",
    None,
    "Pieces of a video that the first stage of an index with codes compares exactly before those of others. "
    "[default: 3]",
    least=1,
)
@workers_options
@model_option
@click.option("--index", "index_path", type=FILE, metavar="DIR", help="Folder of a VIDEO's index. [default: beside it]")
@click.option(
    "--fps", type=float, metavar="F", help="Frames per second of a VIDEO to embed, or rows of a feature file."
)
@click.option("--partial", is_flag=True, help="Index the readable part of a damaged or truncated VIDEO.")
@device_option
@data_options
@click.option("--sentences", type=FILE, metavar="FILE", help="Vectors of a dataset's sentences.")
@click.option(
    "--proposals", metavar="SCHEME", help="Candidate moments for a dataset. [default: the index's, or windowed-grid]"
)
@click.option(
    "--nms",
    type=float,
    metavar="IOU",
    help="NMS threshold: maximum IoU between two predictions of one query. [default: 0.3]",
)
@click.option(
    "--discount",
    "discount_s",
    type=float,
    metavar="S",
    help="Length at which a moment of an index loses half of its score above the median, for the queries of a dataset, "
    "seconds. A search for one sentence uses 0.5. [default: 0, mean pooling as in MAD]",
)
@click.option(
    "-o",
    "--out",
    type=FILE,
    metavar="FILE",
    help="Moments as .otio, .edl, .fcpxml, .xml, .srt, .vtt, .csv or .json; predictions of a dataset as .jsonl.",
)
@click.option("--sweep", is_flag=True, help="Search on chunks of growing length, and report the measures.")
@click.option(
    "--lengths",
    metavar="S,S,...",
    help="Lengths of chunks, seconds, or inf for whole videos. [default: 30,60,120,180,300,600,1200,2400,inf]",
)
@click.option("--measures", metavar="'A; B'", help="Measures of the sweep. [default: R@1,IoU=0.5; R@5,IoU=0.5]")
@click.option("--figures", type=FILE, metavar="DIR", help="Save the figure of the sweep as PNG, SVG and PDF.")
@count_option("--resamples", 1000, "Resamples of the videos, for intervals of the sweep.", least=2, most=MOST_RESAMPLES)
@seed_option("all draws of the sweep")
@output_options
@click.option("--serve", is_flag=True, help="Serve a page on which sentences are typed and moments are played.")
@of_record("serving", PageServing)
@of_record("search_page", SearchPageOptions)
@bound("ranking", _ResultOptions)
@bound("files", _MomentFiles)
@bound("video", _Video)
@bound("queries", _QueryOptions)
@bound("sweeping", _SweepOptions)
@threads_option(None)
def command(
    words: tuple[str, ...],
    serve: bool,
    serving: PageServing,
    search_page: SearchPageOptions,
    ranking: _ResultOptions,
    files: _MomentFiles,
    video: _Video,
    data: AnnotationSource,
    queries: _QueryOptions,
    processes: Workers,
    sweeping: _SweepOptions,
    output: Output,
) -> None:
    """Find the moments that a sentence describes, best first.

    VIDEO is indexed first if it has no index; INDEX is made by truemoment index. There always is a
    best moment: its score shows how well it fits, not whether it occurs.

    With - for the sentence, sentences are read from standard input, one a line, and answered as they
    come: the model is loaded once.

    With --serve in place of a sentence, sentences are typed on a page, and moments are played there.

    With --dataset or --annotations in place of a sentence, every query of a split is answered, for
    truemoment evaluate; this also works on features: FILE.h5 with --sentences FILE.h5. With --sweep
    videos are cut into chunks of several lengths, and the measures at each length are reported.

    \b
    truemoment search "a man opens a door" video.mp4
    truemoment search "a dog on the beach" videos.index --top 10 --clips found --html found.html
    truemoment search "a dog on the beach" film.mp4.index -o found.otio
    truemoment search - videos.index
    truemoment search --serve videos.index
    truemoment search videos.index --annotations mine.jsonl -o preds.jsonl
    truemoment search CLIP_frames.h5 --sentences CLIP_sentences.h5 --dataset mad --split test -o preds.jsonl
    truemoment search CLIP_frames.h5 --sentences CLIP_sentences.h5 --dataset mad --split test --sweep
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.searching.exporting.formats import check_ending
    from truemoment.searching.session import SearchSession

    queries.refuse()
    ranking.refuse()
    if serve:
        _refuse_with_page()
        serving.listening()
        target = video.target(_only_target(words), output)
        index, _ = target.open_index()
        serve_search(index, target.options, serving, search_page)
        return
    _refuse_given(OF_A_PAGE, "goes with --serve")
    if output.json_path == files.csv_path == STANDARD_OUTPUT:
        raise UsageError("--json and --csv: both to standard output, expected one of them")
    if files.page == STANDARD_OUTPUT:
        raise UsageError("--html: expected the name of a file")
    of_queries = any(value is not None for value in (data.dataset, data.annotations, data.split))
    _refuse_others(of_queries)
    sweeping.refuse(of_queries=of_queries, files=files, out=queries.out)
    query, path = _words(words, of_queries=of_queries)
    if query == STANDARD_INPUT and (files.any or queries.out is not None or output.json_path is not None):
        raise UsageError(
            "sentences of standard input are answered with tables: no --json, --csv, --html, -o or pictures"
        )
    if queries.out is not None and not of_queries:
        check_ending(queries.out)
    target = video.target(path, output)
    inputs = [queries.sentences, *data.files(), *target.files()]
    refuse_outputs(inputs, [output.json_path, files.csv_path, files.page, queries.out, files.thumbnails])
    refuse_outputs(inputs, [files.clips])  # which may go to the same folder as pictures
    _refuse_files(("--clips", files.clips), ("--thumbnails", files.thumbnails))
    if sweeping.sweep:
        _sweep_split(
            target, data, queries, sweeping, PageOutput(html=files.page, figures=sweeping.figures), output, video.fps
        )
        return
    if of_queries:
        _search_split(target, data, queries, output, top=ranking.top, fps=video.fps)
        return
    index, only = target.open_index()
    with _searcher(processes, index, ranking.of_sentence(), only) as searcher:
        session = SearchSession(searcher, target.options)
        if query == STANDARD_INPUT:
            _search_lines(session, output)
        else:
            _search_sentence(query, session, files, queries.out, output)


def _searcher(
    processes: Workers, index: Index, ranking: RankingOptions, videos: list[str] | None
) -> AbstractContextManager[IndexSearcher]:
    """Return what searches an index: this process, or a cluster."""
    from truemoment.searching.searcher import IndexSearcher
    from truemoment.searching.shards import searched_by_ray

    if processes.engine == "ray":
        return searched_by_ray(index, ranking, videos, processes.workers)
    if processes.workers is not None:
        raise UsageError("--workers: goes with --engine ray")
    return nullcontext(IndexSearcher(index, ranking, videos))


def _search_split(
    target: SearchTarget,
    data: AnnotationSource,
    queries: _QueryOptions,
    output: Output,
    *,
    top: int | None,
    fps: float | None,
) -> None:
    """Answer every query of a split."""
    from truemoment.searching import report as reports
    from truemoment.searching.split_search import search_split

    search, out = queries.search(top, fps)
    track = _bar("searching", "video") if output.progress else list
    note = _silent if output.quiet else _note
    done = search_split(target, data, search, out, note=note, track=track)
    deliver_log(reports.report_of_split(done), lambda: reports.document_of_split(done), output)
    words = ["truemoment", "evaluate", str(out), *data.words()]
    words += ["--protocol", "mad-clip,nms_threshold=none"] if data.dataset == "mad" else []
    suggest("measure them:", words, output)


def _sweep_split(
    target: SearchTarget,
    data: AnnotationSource,
    queries: _QueryOptions,
    sweeping: _SweepOptions,
    page: PageOutput,
    output: Output,
    fps: float | None,
) -> None:
    """Report the measures of a split on chunks of several lengths."""
    from truemoment.searching import report_length_sweep as reports
    from truemoment.searching.chunk_sweep import read_lengths, sweep_split
    from truemoment.searching.chunks import LENGTHS_S

    with status_line(show=output.progress) as on_status:
        swept = sweep_split(
            target,
            data,
            queries.settings(None, fps),
            lengths_s=LENGTHS_S if sweeping.lengths is None else read_lengths(sweeping.lengths),
            measures=sweeping.parsed_measures(),
            resamples=sweeping.resamples,
            seed=sweeping.seed,
            note=_silent if output.quiet else _note,
            on_status=on_status,
        )
    deliver(reports.report(swept), lambda: reports.document(swept), output, page)


def _search_lines(session: SearchSession, output: Output) -> None:
    """Answer sentences of standard input with tables."""
    from truemoment.searching.pictures import ranked

    session.load()  # somebody who types should wait before the first sentence, and not after each
    for sentence in _lines(quiet=output.quiet):
        answer = _find(sentence, session)
        say(f"\n{sentence}")
        _deliver(sentence, ranked(session.index, answer.moments), answer, session, output)


def _search_sentence(query: str, session: SearchSession, files: _MomentFiles, out: Path | None, output: Output) -> None:
    """Answer one sentence, with the files that the options ask for."""
    from truemoment.searching import report as reports
    from truemoment.searching.pictures import Pictures, ranked

    answer = _find(query, session)
    results = ranked(session.index, answer.moments)
    pictures = Pictures(session.index, files.thumbnails, files.clips, in_memory=files.page is not None)
    results = pictures.add(results, _bar("pictures and clips", "moment") if output.progress else iter)
    if files.csv_path == STANDARD_OUTPUT:
        click.echo(reports.as_csv(query, results), nl=False)
    elif files.csv_path is not None:
        write_text(files.csv_path, reports.as_csv(query, results))
    if out is not None:
        _export(query, results, session, files, out)
    _deliver(query, results, answer, session, output, files)
    if not output.quiet:
        _note_places(pictures, answer, session, output)
    for why in pictures.failed.values():
        click.echo(short_line(f"no pictures or clips: {why}"), err=True)
    if pictures.failed:
        click.get_current_context().exit(EXIT_NOT_ALL)


def _export(query: str, results: list[SearchResult], session: SearchSession, files: _MomentFiles, out: Path) -> None:
    """Write the moments in the format of a file's ending."""
    from truemoment.searching.exporting.formats import check_ending, exported
    from truemoment.searching.exporting.moments import moments_of

    with_paths = [replace(result, path=session.index.path_of(result.moment.video_id)) for result in results]
    moments = moments_of(query, with_paths, files.start)
    write_text(out, exported(moments, check_ending(out), names_only=files.names_only))


def _find(sentence: str, session: SearchSession) -> RetrievedMoments:
    from truemoment.searching.session import cut_short

    if line := cut_short(session.encoder, [sentence]):
        _note(line)
    return session.find(sentence)


def _deliver(
    query: str,
    results: list[SearchResult],
    answer: RetrievedMoments,
    session: SearchSession,
    output: Output,
    files: _MomentFiles = _MomentFiles(None, None, None, None, False, None),
) -> None:
    """Write the table, the document and the page, and the words that the model does not know."""
    from truemoment.searching import report as reports

    if not results:
        _note("no moment: the videos have no frame")
    report = reports.report(query, results, session.index, answer.unknown)
    page = PageOutput(html=files.page, open_it=False, figures=None)

    def document() -> dict[str, Any]:
        return reports.document(query, results, session.index, answer)

    if files.csv_path == STANDARD_OUTPUT:
        write_files(report, document, output, page)
        for line in report.notes:
            _note(line)
    else:
        deliver(report, document, output, page)


def _note_places(pictures: Pictures, answer: RetrievedMoments, session: SearchSession, output: Output) -> None:
    """Write where clips and pictures are, and what a user should know about them and the first stage."""
    from truemoment.searching import report as reports

    index = session.index
    for what, path in (("clips", pictures.clips), ("pictures", pictures.thumbnails)):
        if path is not None:
            say(f"{what}: {path}", err=output.style is not None or output.json_only)
    if pictures.among_videos():
        where = f"{pictures.clips or Path()} is in the folder of the videos of {index.path}"
        _note(f"{where}: if the folder is indexed again, the clips are indexed as videos")
    if session.n_videos == len(index) and (ending := reports.ending(answer, index)):
        _note(ending)


def _note(line: str) -> None:
    say(f"note: {line}", err=True)


def _silent(line: str) -> None:
    del line


def _bar(what: str, unit: str) -> Callable[[list[Any]], Iterable[Any]]:
    """Return a function that shows a progress bar over items."""
    from tqdm import tqdm

    return lambda items: tqdm(items, desc=what, unit=unit, leave=False)


def _refuse_with_page() -> None:
    """Refuse options that a page does not use."""
    of_output = {"json_path": "--json", "page": "--html", "out": "-o", "dataset": "--dataset", "split": "--split"}
    of_output |= {"annotations": "--annotations", "top": "--top"}
    _refuse_given(OF_QUERIES | OF_A_SENTENCE | OF_A_SWEEP | of_output, "does not go with --serve; the page has its own")


def _only_target(words: tuple[str, ...]) -> Path:
    """Return the index or video of a page."""
    if len(words) != 1:
        raise UsageError(f"got {len(words)} arguments and --serve, expected one: the index or video to search")
    return Path(words[0])


def _refuse_files(*folders: tuple[str, Path | None]) -> None:
    """Refuse files, where folders are to be written into."""
    for option, folder in folders:
        if folder is not None and (folder == STANDARD_OUTPUT or (folder.exists() and not folder.is_dir())):
            raise UsageError(f"{option} {folder}: expected a folder")


def _refuse_others(of_queries: bool) -> None:
    """Refuse options that go with the other use."""
    uses = ("one sentence", "the queries of a dataset")
    fitting, used = uses if of_queries else uses[::-1]
    _refuse_given(OF_A_SENTENCE if of_queries else OF_QUERIES, f"goes with {fitting}, and this asks for {used}")


def _refuse_given(options: Mapping[str, str], why: str) -> None:
    """Refuse options, by parameter, that are given on the command line."""
    from click.core import ParameterSource

    context = click.get_current_context()
    given = [o for name, o in options.items() if context.get_parameter_source(name) == ParameterSource.COMMANDLINE]
    if given:
        raise UsageError(f"{', '.join(given)}: {why}")


def _words(words: tuple[str, ...], *, of_queries: bool) -> tuple[str, Path]:
    """Read the arguments: a sentence and where to search, or only that."""
    if of_queries:
        if len(words) != 1:
            raise UsageError(
                f"got {len(words)} arguments and a dataset, expected one: the index, video or features to search"
            )
        return "", Path(words[0])
    if len(words) != 2:
        hint = "put the sentence in quotation marks" if len(words) > 2 else f"for example {EXAMPLE}"
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
    """Read sentences from standard input, as they come; a prompt is shown to somebody who types."""
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
