"""Requests of predictions of a served model: the queries, what the model sees, and how it is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from truemoment.base.boundary.endpoints import key_from_environment
from truemoment.base.boundary.files import read_number
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import UsageError
from truemoment.base.request import AnyFile, Out, Request, Running, argument, number, option, seed, several
from truemoment.learning.training.request import PredictionFile
from truemoment.studies.request import Data, ReadingAnnotations

if TYPE_CHECKING:
    from truemoment.base.records import Annotations
    from truemoment.learning.served import Endpoint, Prompt, ServedModel
    from truemoment.learning.served.prediction import Price
    from truemoment.media.video import Sampling

DEFAULT_FPS = 1.0


@dataclass(frozen=True, kw_only=True)
class FrameOptions(Request):
    """What a served model sees."""

    HEADING = "Videos"

    videos: AnyFile | None = option("Folder of videos, VIDEO.mp4 etc.", metavar="DIR")
    on_missing_video: Literal["refuse", "skip"] = option(
        "Whether videos without a file are refused or skipped.", "refuse"
    )
    fps: float | None = option("Frames per second of video. [default: 1]", metavar="F")
    frames: int | None = option("Frames per video, in place of --fps.", metavar="N")
    longest_side: int = option("Longest side of a frame.", 448, metavar="PX", rare=True)
    shuffled: bool = option("Shuffle the frames: the randomised-video check.", False)

    def sampling(self, prompt: Prompt) -> Sampling | None:
        """Return how frames are sampled; None for a prompt without frames."""
        from truemoment.media.video import Sampling

        if prompt.shows_frames:
            if self.videos is None:
                raise UsageError(f"prompt {prompt.name} shows frames: give --videos DIR, or --prompt text-only")
            fps = DEFAULT_FPS if self.fps is None and self.frames is None else self.fps
            return Sampling(fps, self.frames, self.longest_side)
        if self.fps is not None or self.frames is not None or self.shuffled:
            raise UsageError(f"prompt {prompt.name} shows no frames, expected no --fps, --frames and --shuffled")
        return None


@dataclass(frozen=True, kw_only=True)
class RequestOptions(Request):
    """How a served model is asked."""

    HEADING = "Requests"

    model: str = option("Name of the model at the endpoint.", metavar="NAME", required=True)
    seed: int = seed("the request, and of the order of --shuffled")
    max_tokens: int = number("Maximum number of tokens of an answer.", 256, 1, rare=True)
    set: tuple[str, ...] | Mapping[str, object] | Sequence[str] = option(
        "A field of the request; null leaves it out. May be repeated.", (), metavar="FIELD=JSON", rare=True
    )
    key_variable: str | None = option("Environment variable with the key. [default: OPENAI_API_KEY]", metavar="NAME")
    workers: int = number("Number of requests at a time.", 4, 1, 256)
    retries: int = number("Number of retries of a request that fails.", 6, 0, 100, rare=True)
    timeout: float = option("Timeout of a request, seconds.", 120.0, metavar="S", rare=True)
    price: str | None = option(
        "Prices of a million input and output tokens, to report the cost.", metavar="IN,OUT", rare=True
    )

    def check(self) -> None:
        """Refuse fields and prices that cannot be read."""
        _ = self.parsed_fields(), self.parsed_price()

    def parsed_fields(self) -> dict[str, Any]:
        """Read --set FIELD=JSON."""
        if isinstance(self.set, Mapping):
            return dict(self.set)
        fields: dict[str, Any] = {}
        for text in several(self.set):
            name, equals, value = text.partition("=")
            if not equals or not name.isidentifier():
                raise UsageError(f"--set: got {text!r}, expected FIELD=JSON, e.g. --set temperature=0.5")
            try:
                fields[name] = msgspec.json.decode(value)
            except (msgspec.DecodeError, RecursionError):
                raise UsageError(
                    f"--set {name}: got {value!r}, expected JSON, e.g. 0.5, true, null or '\"text\"'"
                ) from None
        return fields

    def parsed_price(self) -> Price | None:
        """Read --price IN,OUT."""
        from truemoment.learning.served.prediction import Price

        if self.price is None:
            return None
        prices = [read_number(part) for part in self.price.split(",")]
        if len(prices) != 2 or not all(price >= 0 for price in prices):
            raise UsageError(
                f"--price: got {self.price!r}, expected two prices of a million tokens, in and out, e.g. 2.5,10"
            )
        return Price(*prices)


@dataclass(frozen=True, kw_only=True)
class ServedModelOptions(PredictionFile, Data, FrameOptions, RequestOptions, ReadingAnnotations, Running):
    """A served model, the queries that it is asked about, and how."""

    url: str = argument(metavar="ENDPOINT")

    def endpoint(self) -> Endpoint:
        """Return the endpoint."""
        from truemoment.learning.served import Endpoint

        key, variable = key_from_environment(self.url, self.key_variable)
        options = {"temperature": 0, "max_tokens": self.max_tokens, "seed": self.seed} | self.parsed_fields()
        options = {name: value for name, value in options.items() if value is not None}
        return Endpoint(
            self.url, self.model, key, variable, timeout_s=self.timeout, retries=self.retries, options=options
        )

    def models(
        self, prompts: Mapping[str, Prompt], raws: Mapping[str, Path]
    ) -> tuple[Annotations, dict[str, ServedModel]]:
        """Read the annotations, and return them and the served model with each prompt, by the prompt's name."""
        from truemoment.learning.served import ServedModel
        from truemoment.learning.served.prediction import files_of_videos
        from truemoment.learning.served.shared_frames import SharedFrames

        # Mistakes in the options are reported before files are read.
        endpoint = self.endpoint()
        shows = [prompt for prompt in prompts.values() if prompt.shows_frames]
        sampling = self.sampling((shows or list(prompts.values()))[0])
        reference = self.reference()
        paths = {}
        if self.videos is not None and sampling is not None:
            queries = reference.queries.first(self.limit)
            paths = files_of_videos(Path(self.videos), queries, skip_missing=self.on_missing_video == "skip")
        shared = SharedFrames() if len(prompts) > 1 else None
        return reference, {
            name: ServedModel(
                endpoint,
                prompt,
                raws[name],
                paths,
                sampling if prompt.shows_frames else None,
                shuffle_seed=self.seed if self.shuffled and prompt.shows_frames else None,
                workers=self.workers,
                progress=self.progress,
                dataset=reference.dataset,
                split=reference.split,
                shared=shared,
            )
            for name, prompt in prompts.items()
        }


def own_prompts(*names: str) -> list[Path]:
    """Return the files among names and files of prompts."""
    return [Path(name) for name in names if name.lower().endswith(".toml")]


def raw_beside(out: Path) -> Path:
    """Return the file of raw answers beside predictions; only one that the user names may be a link."""
    raw = out.with_suffix(".raw.jsonl")
    return (OwnPath(raw.parent) / raw.name).checked()


@dataclass(frozen=True)
class EndpointRequest(ServedModelOptions):
    """A served model with one prompt."""

    url: str = argument(metavar="ENDPOINT")
    _: KW_ONLY
    prompt: str = option(
        "Prompt: seconds, clock, json, text-only, or your own file.", "seconds", metavar="NAME|FILE.toml"
    )
    raw: Out[AnyFile | None] = option("Raw answers. [default: OUT.raw.jsonl]", metavar="FILE", rare=True)

    @property
    def raw_file(self) -> Path:
        """The file of raw answers."""
        return raw_beside(self.file) if self.raw is None else Path(self.raw)

    def inputs(self) -> list[Path]:
        """Return the file of the user's own prompt."""
        return own_prompts(self.prompt)
