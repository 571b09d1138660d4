"""Requests of searches and of indexing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from truemoment.base.errors import UsageError
from truemoment.base.request import (
    MOST_RESAMPLES,
    AnyFile,
    In,
    Out,
    OutFolder,
    Request,
    argument,
    number,
    option,
    seed,
    several,
)
from truemoment.searching.listing import MomentListing
from truemoment.searching.narrowing import Narrowing
from truemoment.studies.request import MappedData, Workers, path_of

if TYPE_CHECKING:
    from truemoment.searching.building import IndexReport
    from truemoment.searching.encoder_options import EncoderOptions
    from truemoment.searching.session import SearchTarget

DEFAULT_MODEL = "laion/CLIP-ViT-B-32-laion2B-s34B-b79K"
"""The model for one's own videos: a CLIP of the size of MAD's, whose weights lie on the hub as safetensors."""

DEFAULT_FPS = 2.0

DEFAULT_CLIPS = 0.5
"""Clips a second of a model of clips: each lasts 2 s."""

MODEL_METAVAR = "NAME|FOLDER|URL#NAME"

FPS_HELP = (
    f"Frames per second to embed, or clips per second for X-CLIP. [default: {DEFAULT_FPS:g}; X-CLIP {DEFAULT_CLIPS:g}]"
)

APART_S = 5.0
"""The moments that are shown are different places of a video, not a place and its neighbours."""

MOST_APART_S = 1e6
"""Seconds: longer than any video."""


@dataclass(frozen=True, kw_only=True)
class Device(Request):
    """Where a model runs."""

    HEADING = "Model"

    device: str | None = option(
        "Device of the model: cpu, cuda, cuda:1 ... [default: a GPU if there is one]", metavar="NAME"
    )


@dataclass(frozen=True, kw_only=True)
class EmbeddingModel(Device):
    """The model of an index."""

    HEADING = "Model"

    model: In[str | None] = option(
        "CLIP, SigLIP or X-CLIP: NAME or NAME@COMMIT on the hub, a folder, or scenes; or URL#NAME, a model behind an "
        f"embeddings endpoint. [default: {DEFAULT_MODEL}]",
        metavar=MODEL_METAVAR,
    )


@dataclass(frozen=True, kw_only=True)
class SearchedModels(Device):
    """The models that search."""

    HEADING = "Model"

    model: In[tuple[str, ...] | str | Sequence[str]] = option(
        "Model of the index to search by; may be repeated. [default: all models of the index; for a video without one "
        f"{DEFAULT_MODEL}]",
        (),
        metavar=MODEL_METAVAR,
    )


@dataclass(frozen=True, kw_only=True)
class VideoIndexing(SearchedModels):
    """How a video is indexed that is searched and has no index."""

    HEADING = "Video without an index"

    index: AnyFile | None = option("Folder of its index. [default: beside it]", metavar="DIR")
    fps: float | None = option(FPS_HELP, metavar="F")
    partial: bool = option("Index the readable part of a damaged or truncated video.", False, rare=True)

    def check(self) -> None:
        """Refuse frame rates that no video has."""
        _ = self.encoder

    @property
    def encoder(self) -> EncoderOptions:
        """Model and frame rate."""
        from truemoment.searching.encoder_options import EncoderOptions

        return EncoderOptions(next(iter(several(self.model)), None), self.fps, None, self.device)

    def search_target(
        self,
        path: Path,
        note: Callable[[str], None] = lambda _: None,
        make_index: Callable[[Path, Path], IndexReport] | None = None,
    ) -> SearchTarget:
        """Return what is searched (parameters: :class:`~truemoment.searching.session.SearchTarget`)."""
        from truemoment.searching.session import SearchTarget

        return SearchTarget(
            path,
            self.encoder,
            path_of(self.index),
            models=several(self.model),
            partial=self.partial,
            note=note,
            make_index=make_index,
        )


@dataclass(frozen=True, kw_only=True)
class RankingOptions(Request):
    """How moments are ranked and selected."""

    top: int = number("Number of moments.", 5, 1, 10_000, metavar="K")
    apart: float = option("Minimum time between two moments, seconds.", APART_S, metavar="S")
    exact: bool = option("Score all videos exactly.", False)
    said: bool = option("Search what is said, in an index made with --subtitles; with --seen, both.", False)
    seen: bool = option("Search what is seen: the default without --said.", False)
    candidates: int | None = number(
        "Number of videos that are scored exactly, after a first stage over all. [default: 20; of a calibrated index "
        "40 at most]",
        None,
        1,
        rare=True,
    )
    per_video: int | None = number(
        "Pieces of a video that the first stage of an index with codes compares exactly before those of others. "
        "[default: 3]",
        None,
        1,
        rare=True,
    )

    @property
    def is_fused(self) -> bool:
        """Whether what is seen and what is said are ranked together."""
        return self.said and self.seen

    def check(self) -> None:
        """Refuse times that no video has, and options of a first stage where all videos are scored."""
        refuse_seconds("--apart", self.apart)
        for name, value in (("--candidates", self.candidates), ("--per-video", self.per_video)):
            if self.exact and value is not None:
                raise UsageError(f"got --exact and {name}, expected one of them")


@dataclass(frozen=True, kw_only=True)
class MomentFiles(Request):
    """Files of the moments."""

    HEADING = "Files of the moments"

    out: Out[Path | None] = option(
        "Moments for editors and players: .otio, .edl, .fcpxml, .xml, .srt, .vtt, .csv or .json.",
        name="-o --out",
        metavar="FILE",
    )
    clips: OutFolder[Path | None] = option("Write each moment as a video.", metavar="DIR")
    thumbnails: OutFolder[Path | None] = option("Write a picture of each moment.", metavar="DIR")
    html: Out[Path | None] = option("Write a page with pictures.", metavar="FILE")
    csv: Out[Path | None] = option(
        "Write the moments as CSV ('-': to standard output). Text that begins with = + - @ gets a ' before it, so that "
        "no spreadsheet computes it.",
        metavar="FILE",
    )
    names_only: bool = option("Timelines name video files without their folders.", False, name="--names", rare=True)
    start: str | None = option(
        "Time code of a video's first frame, for timelines. [default: its own]", metavar="HH:MM:SS:FF", rare=True
    )

    def check(self) -> None:
        """Refuse a page without a name, and a format that is not known."""
        from truemoment.searching.exporting.formats import check_ending

        if self.html == Path("-"):
            raise UsageError("--html: expected the name of a file")
        if self.out is not None:
            check_ending(self.out)


@dataclass(frozen=True, kw_only=True)
class PictureQuery(Request):
    """A picture in place of the sentence."""

    image: In[AnyFile | None] = option(
        "Search for moments like a picture, in place of a sentence: PNG, JPEG, WebP, GIF or BMP.", metavar="FILE"
    )


@dataclass(frozen=True)
class SentenceSearch(MomentListing, Narrowing, RankingOptions, PictureQuery, VideoIndexing):
    """A sentence or picture, and where its moments are searched."""

    query: str | None = argument()
    target: In[AnyFile] = argument()

    def check(self) -> None:
        """Refuse a sentence and a picture, and neither."""
        if (self.query is None) == (self.image is None):
            raise UsageError("expected a sentence, or None for the sentence and image=FILE")
        self.check_beside(said=self.said, has_picture=self.image is not None)


@dataclass(frozen=True, kw_only=True)
class SplitTarget(MappedData, VideoIndexing):
    """The queries of a split, and where their moments are searched."""

    target: Path = argument(metavar="INDEX|VIDEO|FEATURES")
    sentences: In[Path | None] = option("Vectors of the sentences, which FEATURES need.", metavar="FILE")
    fps: float | None = option("Rows per second of FEATURES, or frames per second of VIDEO to embed.", metavar="F")
    proposals: str | None = option("Candidate moments. [default: the index's, or windowed-grid]", metavar="SCHEME")
    nms: float = option(
        "NMS threshold: maximum IoU between two predictions of one query.", 0.3, metavar="IOU", rare=True
    )

    def check(self) -> None:
        """Refuse a threshold that is no IoU."""
        if not 0 <= self.nms <= 1:
            raise UsageError(f"--nms: got {self.nms:g}, expected an IoU from 0 to 1")

    def inputs(self) -> list[Path]:
        """Return the index, video or features."""
        return self.search_target(self.target).files()


@dataclass(frozen=True, kw_only=True)
class SplitSearch(SplitTarget):
    """How every query of a split is searched for, and the file of predictions."""

    out: Out[Path] = option("Predictions, .jsonl.", name="-o --out", metavar="FILE", required=True)
    top: int = number("Number of moments for each query.", 100, 1, 10_000, metavar="K")
    discount_s: float = option(
        "Length at which a moment of an index loses half of its score above the median, seconds. A search for one "
        "sentence uses 0.5; 0 is mean pooling as in MAD.",
        0.0,
        name="--discount",
        metavar="S",
    )

    def check(self) -> None:
        """Refuse a file of another format, and a length out of range."""
        refuse_seconds("--discount", self.discount_s)
        if self.out.suffix.lower() not in (".jsonl", ".json"):
            raise UsageError(f"-o: got {self.out}, expected a name that ends in .jsonl")


@dataclass(frozen=True, kw_only=True)
class ChunkSearch(SplitTarget):
    """How the queries of a split are searched for on chunks of several lengths."""

    lengths: str | None = option(
        "Lengths of chunks, seconds, or inf for whole videos. [default: 30,60,120,180,300,600,1200,2400,inf]",
        metavar="S,S,...",
    )
    measures: str | None = option(
        "Measures, separated by ';'. [default: R@1,IoU=0.5; R@5,IoU=0.5]", metavar="'A; B'", complete="measures"
    )
    resamples: int = number("Resamples of the videos, for intervals.", 1000, 2, MOST_RESAMPLES)
    seed: int = seed("all draws")

    def check(self) -> None:
        """Refuse lengths and measures that cannot be read."""
        _ = self.lengths_s, self.parsed_measures

    @property
    def lengths_s(self) -> tuple[float, ...]:
        """Lengths of the chunks, infinite for whole videos."""
        from truemoment.searching.chunk_sweep import read_lengths
        from truemoment.searching.chunks import LENGTHS_S

        return LENGTHS_S if self.lengths is None else read_lengths(self.lengths)

    @property
    def parsed_measures(self) -> Any:  # noqa: ANN401 - as length_sweep takes them
        """The measures; those of MAD's figure if none are given."""
        from truemoment.evaluation.measures import parse_measures
        from truemoment.searching.chunks import SWEPT

        return SWEPT if self.measures is None else parse_measures(self.measures)


@dataclass(frozen=True, kw_only=True)
class DecodingWorkers(Workers):
    """Who decodes videos: this machine, for one model, or a cluster."""

    HEADING = "Workers"

    workers: int | None = number(
        "Number of processes that decode videos. [default: 1 for a few minutes of video, else all cores]",
        None,
        1,
        10_000,
    )


@dataclass(frozen=True)
class IndexRequest(EmbeddingModel, DecodingWorkers):
    """Videos that are indexed, and how."""

    videos: tuple[Path, ...] | AnyFile | Sequence[AnyFile] = argument(metavar="VIDEO...")
    _: KW_ONLY
    out: OutFolder[AnyFile | None] = option(
        "Folder of the index. [default: VIDEO.index]", name="-o --out", metavar="INDEX"
    )
    add_model: In[tuple[str, ...] | str | Sequence[str]] = option(
        "Another model to index the videos with, beside that of the index; may be repeated. A search uses all.",
        (),
        metavar=MODEL_METAVAR,
        rare=True,
    )
    fps: float | None = option(FPS_HELP, metavar="F")
    partial: bool = option("Index the readable part of damaged or truncated videos, with a warning.", False)
    subtitles: bool = option(
        "Also index what is said: subtitles and transcripts beside the videos, named as film.srt, film.en.vtt or "
        "film.json.",
        False,
    )
    proposals: str | None = option(
        "Candidate moments. [default: windows of about 64 s and 256 s]", metavar="SCHEME", rare=True
    )
    codes: bool = option(
        "Make codes of the pieces, for a first stage in an eighth of the memory. [default: from 220 hours on]",
        False,
        rare=True,
    )

    def check(self) -> None:
        """Refuse several videos without a folder, and frame rates that no video has."""
        if self.out is None and len(self.paths) > 1:
            raise UsageError(f"got {len(self.paths)} videos, expected -o INDEX: where does their index go?")
        _ = self.encoder

    def inputs(self) -> list[Path]:
        """Return the videos and the index."""
        from truemoment.searching.writing import list_videos

        return [self.folder, *list_videos(self.paths).videos]

    @property
    def paths(self) -> tuple[Path, ...]:
        """Files and folders of videos."""
        return tuple(map(Path, several(self.videos)))

    @property
    def folder(self) -> Path:
        """Folder of the index."""
        from truemoment.searching.encoder_options import index_of

        return index_of(self.paths[0]) if self.out is None else Path(self.out)

    @property
    def encoder(self) -> EncoderOptions:
        """Model, frame rate and candidate moments."""
        from truemoment.searching.encoder_options import EncoderOptions

        return EncoderOptions(self.model, self.fps, self.proposals, self.device)


@dataclass(frozen=True, kw_only=True)
class CalibrationRequest(EmbeddingModel):
    """An index, and the sentences that its rule is measured with."""

    index_path: In[Path] = argument(metavar="INDEX")
    sentences: In[Path] = option(
        "Sentences as people search for: text, one a line, or vectors, .npy (sentences, numbers).",
        metavar="FILE",
        required=True,
    )
    top: int = number("Number of moments that searches look for, at most.", 5, 1, 1000, metavar="K")
    videos: int = number("Number of videos that are drawn.", 200, 1)
    quantile: float = option(
        "Share of the sentences for which such a search finds the best K moments.", 0.99, metavar="Q"
    )
    seed: int = seed("the draw of videos")


@dataclass(frozen=True)
class ExtractionRequest(EmbeddingModel, DecodingWorkers):
    """Videos or sentences, and how their features are written."""

    videos: tuple[Path, ...] = argument(metavar="[VIDEO...]", required=False)
    _: KW_ONLY
    queries: In[Path | None] = option("Annotations whose sentences get features, in place of videos.", metavar="FILE")
    every: float = option(
        "Length of a clip, seconds; a row shows its middle.", 2.0, limits=(0, MOST_APART_S), is_open=True, metavar="S"
    )
    layout: Literal["own", "npz"] | None = option(
        "One folder of TrueMoment's own format, or a file VIDEO.npz a video, as published features have. "
        "[default: own; npz for sentences]"
    )
    dtype: Literal["float32", "float16"] = option("Number type.", "float32")
    out: OutFolder[Path] = option("Folder of the features.", name="-o --out", metavar="DIR", required=True)
    quiet: bool = option("Report only problems, without progress.", False)

    def check(self) -> None:
        """Refuse videos and sentences, and neither."""
        if bool(self.videos) == (self.queries is not None):
            raise UsageError("features of what? give VIDEO... or --queries FILE, one of them")
        if self.queries is not None and self.layout == "own":
            raise UsageError("--layout own: is of videos; the features of sentences are a file each")

    def inputs(self) -> list[Path]:
        """Return the videos."""
        from truemoment.searching.writing import list_videos

        return list_videos(self.videos).videos if self.videos else []


def refuse_seconds(name: str, seconds: float) -> None:
    """Refuse a negative time, and one longer than any video."""
    if not 0 <= seconds <= MOST_APART_S:
        raise UsageError(f"{name}: got {seconds:g}, expected seconds, 0 to {MOST_APART_S:,.0f}")
