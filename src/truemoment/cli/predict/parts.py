"""Parts of requests for predictions: the file that is written, and what a served model is sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
import msgspec

from truemoment.base.boundary.inputs import updating
from truemoment.base.boundary.own_path import OwnPath, open_regular
from truemoment.base.errors import UsageError
from truemoment.base.request import Request, argument, number, option, seed
from truemoment.cli.outputs import refuse_outputs, say
from truemoment.learning.training.request import PredictionFile
from truemoment.studies.request import Data

if TYPE_CHECKING:
    from truemoment.base.records import Annotations
    from truemoment.cli.parts import Output
    from truemoment.learning.served import Endpoint, Prompt, ServedModel
    from truemoment.learning.served.prediction import Price, ServedPrediction
    from truemoment.media.video import Sampling

DEFAULT_FPS = 1.0
EXIT_NOT_ALL = 1


@dataclass(frozen=True, kw_only=True)
class FrameOptions(Request):
    """What a served model sees."""

    HEADING = "Videos"

    videos: Path | None = option("Folder of videos, VIDEO.mp4 etc.", metavar="DIR")
    on_missing_video: Literal["refuse", "skip"] = option(
        "Whether videos without a file are refused or skipped.", "refuse"
    )
    fps: float | None = option("Frames per second of video. [default: 1]", metavar="F")
    n_frames: int | None = option("Frames per video, in place of --fps.", name="--frames", metavar="N")
    longest_side: int = option("Longest side of a frame.", 448, metavar="PX", rare=True)
    shuffled: bool = option("Shuffle the frames: the randomised-video check.", False)

    def sampling(self, prompt: Prompt) -> Sampling | None:
        """Return how frames are sampled; None for a prompt without frames."""
        from truemoment.media.video import Sampling

        if prompt.shows_frames:
            if self.videos is None:
                raise UsageError(f"prompt {prompt.name} shows frames: give --videos DIR, or --prompt text-only")
            fps = DEFAULT_FPS if self.fps is None and self.n_frames is None else self.fps
            return Sampling(fps, self.n_frames, self.longest_side)
        if self.fps is not None or self.n_frames is not None or self.shuffled:
            raise UsageError(f"prompt {prompt.name} shows no frames, expected no --fps, --frames and --shuffled")
        return None


@dataclass(frozen=True, kw_only=True)
class RequestOptions(Request):
    """How a served model is asked."""

    HEADING = "Requests"

    model: str = option("Name of the model at the endpoint.", metavar="NAME", required=True)
    seed: int = seed("the request, and of the order of --shuffled")
    max_tokens: int = number("Maximum number of tokens of an answer.", 256, 1, rare=True)
    fields: tuple[str, ...] = option(
        "A field of the request; null leaves it out. May be repeated.",
        (),
        name="--set",
        metavar="FIELD=JSON",
        rare=True,
    )
    key_variable: str | None = option("Environment variable with the key. [default: OPENAI_API_KEY]", metavar="NAME")
    workers: int = number("Number of requests at a time.", 4, 1, 256)
    retries: int = number("Number of retries of a request that fails.", 6, 0, 100, rare=True)
    timeout_s: float = option("Timeout of a request, seconds.", 120.0, name="--timeout", metavar="S", rare=True)
    price: str | None = option("Prices of a million tokens, to report the cost.", metavar="IN,OUT", rare=True)

    def check(self) -> None:
        """Refuse fields and prices that cannot be read."""
        _ = self.parsed_fields(), self.parsed_price()

    def parsed_fields(self) -> dict[str, Any]:
        """Read --set FIELD=JSON."""
        fields: dict[str, Any] = {}
        for text in self.fields:
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
        from truemoment.base.boundary.files import read_number
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
class ServedModelOptions(PredictionFile, Data, FrameOptions, RequestOptions):
    """A served model, the queries that it is asked about, and how."""

    url: str = argument(metavar="ENDPOINT")

    def endpoint(self) -> Endpoint:
        """Return the endpoint."""
        from truemoment.learning.served import Endpoint, key_from_environment

        key, variable = key_from_environment(self.url, self.key_variable)
        options = {"temperature": 0, "max_tokens": self.max_tokens, "seed": self.seed} | self.parsed_fields()
        options = {name: value for name, value in options.items() if value is not None}
        return Endpoint(
            self.url, self.model, key, variable, timeout_s=self.timeout_s, retries=self.retries, options=options
        )

    def models(
        self, prompts: Mapping[str, Prompt], outs: Mapping[str, Path], raws: Mapping[str, Path], output: Output
    ) -> tuple[Annotations, dict[str, ServedModel]]:
        """Read the annotations, and return them and the served model with each prompt, by the prompt's name."""
        from truemoment.learning.served import ServedModel
        from truemoment.learning.served.prediction import files_of_videos
        from truemoment.learning.served.shared_frames import SharedFrames

        # Mistakes in the options are reported before files are read.
        endpoint = self.endpoint()
        shows = [prompt for prompt in prompts.values() if prompt.shows_frames]
        sampling = self.sampling((shows or list(prompts.values()))[0])
        reference = self.source.read()
        paths = {}
        if self.videos is not None and sampling is not None:
            queries = reference.queries.first(self.limit)
            paths = files_of_videos(self.videos, queries, skip_missing=self.on_missing_video == "skip")
        written = [*outs.values(), *raws.values(), output.json_path]
        refuse_outputs([*self.source.files(), *paths.values()], written)
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
                progress=output.progress,
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


@contextmanager
def report_saved(raws: Iterable[Path]) -> Iterator[None]:
    """Report, if a run is interrupted, how many raw answers are saved."""
    try:
        yield
    except KeyboardInterrupt:
        for raw in raws:
            lines = 0
            if raw.is_file():
                with open_regular(updating(raw)) as stream:
                    lines = sum(1 for _ in stream) - 1
            saved = f"{max(0, lines)} raw answers are saved in {raw}"
            say(f"truemoment: {saved}; the same command resumes from there", err=True)
        raise


def warn_and_exit(predictions: Mapping[str, ServedPrediction]) -> None:
    """Write warnings, each after a prefix; exit with status 1 if a query has no answer."""
    from truemoment.learning.training.report_prediction import warnings

    for prefix, prediction in predictions.items():
        for line in warnings(prediction):
            say(f"{prefix}{line}", err=True)
    if any(prediction.answers.unanswered for prediction in predictions.values()):
        click.get_current_context().exit(EXIT_NOT_ALL)
