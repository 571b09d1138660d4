"""truemoment predict: predict the moments of a split's queries with a served model, or with a trained run."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
import msgspec

from truemoment.base.boundary.inputs import updating
from truemoment.base.boundary.own_path import OwnPath, open_regular
from truemoment.base.errors import UsageError
from truemoment.cli.binder import FILE
from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver_log, suggest
from truemoment.cli.groups import bound, data_options
from truemoment.cli.options import count_option, json_option, seed_option
from truemoment.cli.outputs import files_of_run, refuse_outputs, say, source_file
from truemoment.cli.parts import Output
from truemoment.cli.threads import OF_MODELS, threads_option
from truemoment.data.datasets.source import AnnotationSource

if TYPE_CHECKING:
    from truemoment.base.boundary.distribution import Engine
    from truemoment.base.records import Annotations
    from truemoment.learning.served import Endpoint, Prompt, ServedModel
    from truemoment.learning.served.prediction import Price
    from truemoment.learning.served.shared_frames import SharedFrames
    from truemoment.media.video import Sampling

DEFAULT_FPS = 1.0
DEFAULT_REQUESTS = 4
EXIT_NOT_ALL = 1


@dataclass(frozen=True)
class _RunPredictionOptions:
    """Options of a trained run."""

    features: str | None
    change: str | None
    chunk_s: float | None
    sentences: Path | None
    first_look: int | None
    engine: str

    @property
    def given(self) -> list[str]:
        """The options of a run that are given."""
        values = {
            "--features": self.features,
            "--change": self.change,
            "--chunks": self.chunk_s,
            "--sentences": self.sentences,
            "--first-look": self.first_look,
            "--engine": None if self.engine == "local" else self.engine,
        }
        return [name for name, value in values.items() if value is not None]


@dataclass(frozen=True)
class _FrameOptions:
    """Options of what a served model sees."""

    videos: Path | None
    on_missing_video: str
    prompt_name: str
    prompts: str | None
    fps: float | None
    n_frames: int | None
    longest_side: int
    shuffled: bool

    def names(self) -> list[str]:
        """Return the names or files of --prompts."""
        names = [name.strip() for name in (self.prompts or "").split(",")]
        if not all(names) or len(set(names)) < max(2, len(names)):
            raise UsageError(f"--prompts: got {self.prompts!r}, expected two or more different prompts, NAME,FILE.toml")
        return names

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


@dataclass(frozen=True)
class _RequestOptions:
    """Options of the requests to a served model."""

    model: str | None
    max_tokens: int
    fields: tuple[str, ...]
    key_variable: str | None
    workers: int | None
    retries: int
    timeout_s: float

    def endpoint(self, url: str, seed: int) -> Endpoint:
        """Return the endpoint at an address."""
        from truemoment.learning.served import Endpoint, key_from_environment

        if self.model is None:
            raise UsageError("which model? give --model NAME, as the endpoint calls it")
        key, variable = key_from_environment(url, self.key_variable)
        options = {"temperature": 0, "max_tokens": self.max_tokens, "seed": seed} | _fields(self.fields)
        options = {name: value for name, value in options.items() if value is not None}
        return Endpoint(url, self.model, key, variable, timeout_s=self.timeout_s, retries=self.retries, options=options)


@dataclass(frozen=True)
class _PredictionFiles:
    """Options of the files that are written."""

    raw: Path | None
    out: Path
    json_path: Path | None
    quiet: bool

    @property
    def output(self) -> Output:
        """JSON and notes, without tables."""
        return Output(json_path=self.json_path, quiet=self.quiet)

    def refuse_names(self) -> None:
        """Refuse a file of predictions of another format."""
        if self.out.suffix.lower() not in (".jsonl", ".json"):
            raise UsageError(f"-o: got {self.out}, expected a name that ends in .jsonl")

    def raw_file(self) -> Path:
        """Return the file of raw answers; only one that the user names may be a link."""
        if self.raw is not None:
            return self.raw
        raw = self.out.with_suffix(".raw.jsonl")
        return (OwnPath(raw.parent) / raw.name).checked()


_OF_RUNS = (
    *("endpoint", "dataset", "annotations", "split", "data_dir", "features", "change", "chunk_s", "seed", "limit"),
    *("sentences", "first_look", "engine", "workers", "out"),
)
"""Options that a trained run has too, beside --json and --quiet."""


@click.command("predict", cls=Command)
@click.argument("endpoint", metavar="ENDPOINT|RUN")
@click.option("--model", metavar="NAME", help="Name of the model at the endpoint.")
@data_options
@click.option("--features", metavar="SOURCE", help="Features for a RUN, in place of those it was trained on.")
@click.option("--change", metavar="WAY", help="Change the videos of a RUN: shuffled, reversed, frozen or other-video.")
@click.option(
    "--chunks",
    "chunk_s",
    type=float,
    metavar="S",
    help="Cut the videos of a RUN into chunks of S seconds; times count from the start of a chunk.",
)
@count_option(
    "--first-look",
    None,
    "Compare a query with the K windows of its film with the frame most like it, for a RUN on films; 0 for all. "
    "[default: as the recipe]",
    least=0,
    metavar="K",
)
@click.option("--sentences", type=FILE, metavar="FILE", help="Sentence vectors for --first-look, .h5 or .npz.")
@click.option(
    "--engine",
    type=click.Choice(["local", "ray"]),
    default="local",
    show_default=True,
    help="Where parts of films are predicted: this machine, or a Ray cluster (environment variable RAY_ADDRESS).",
)
@click.option("--videos", type=FILE, metavar="DIR", help="Folder of videos, VIDEO.mp4 etc.")
@click.option(
    "--on-missing-video",
    type=click.Choice(["refuse", "skip"]),
    default="refuse",
    show_default=True,
    help="Videos without a file.",
)
@click.option(
    "--prompt",
    "prompt_name",
    default="seconds",
    show_default=True,
    metavar="NAME|FILE.toml",
    help="Prompt: seconds, clock, json, text-only, or your own file.",
)
@click.option(
    "--prompts",
    metavar="NAME,FILE.toml,...",
    help="Several prompts in place of --prompt, to measure how much figures depend on them; -o gets the name of each.",
)
@click.option("--fps", type=float, metavar="F", help="Frames per second of video. [default: 1]")
@click.option("--frames", "n_frames", type=int, metavar="N", help="Frames per video, in place of --fps.")
@click.option("--longest-side", type=int, default=448, show_default=True, metavar="PX", help="Longest side of a frame.")
@click.option("--shuffled", is_flag=True, help="Shuffle the frames: the randomised-video check.")
@seed_option("the request, and of the order of --shuffled")
@count_option("--max-tokens", 256, "Maximum number of tokens of an answer.", least=1)
@click.option(
    "--set",
    "fields",
    multiple=True,
    metavar="FIELD=JSON",
    help="A field of the request; null leaves it out. May be repeated.",
)
@click.option("--key-variable", metavar="NAME", help="Environment variable with the key. [default: OPENAI_API_KEY]")
@count_option(
    "--workers",
    None,
    "Number of requests at a time, or of processes for a RUN on films. [default: 4 requests; all cores]",
    least=1,
    most=256,
)
@count_option("--retries", 6, "Number of retries of a request that fails.", least=0, most=100)
@click.option(
    "--timeout",
    "timeout_s",
    type=float,
    default=120.0,
    show_default=True,
    metavar="S",
    help="Timeout of a request, seconds.",
)
@count_option("--limit", None, "Predict the first N queries only.", least=1)
@click.option("--price", metavar="IN,OUT", help="Prices of a million tokens, to report the cost.")
@click.option("--raw", type=FILE, metavar="FILE", help="Raw answers. [default: OUT.raw.jsonl]")
@click.option("-o", "--out", type=FILE, required=True, metavar="FILE", help="Predictions, .jsonl.")
@json_option("Write the report as JSON ('-': to standard output, and nothing else goes there).")
@click.option("--quiet", is_flag=True, help="No report, and no progress on standard error.")
@bound("requests", _RequestOptions)
@bound("run", _RunPredictionOptions)
@bound("frames", _FrameOptions)
@bound("files", _PredictionFiles)
@threads_option(OF_MODELS)
def command(
    endpoint: str,
    requests: _RequestOptions,
    data: AnnotationSource,
    run: _RunPredictionOptions,
    frames: _FrameOptions,
    seed: int,
    limit: int | None,
    price: str | None,
    files: _PredictionFiles,
) -> None:
    """Predict when things happen in videos with a served model, or with a RUN of truemoment train.

    RUN is a folder made by truemoment train. ENDPOINT is the address of an OpenAI-compatible interface, e.g.
    http://localhost:8000/v1. The key, if it needs one, comes from the environment.

    Every raw answer is saved. The same command resumes an interrupted one and sends no request twice.
    Exit status 1 means that some queries have no answer.

    \b
    truemoment predict runs/tan2d --dataset charades-cd --split test-ood -o preds.jsonl
    truemoment predict http://localhost:8000/v1 --model qwen --videos videos/ -o answers.jsonl ...
    truemoment predict ... --prompt text-only -o floor.jsonl   for audit --text-only floor.jsonl
    truemoment predict ... --shuffled -o shuffled.jsonl        for audit --shuffled shuffled.jsonl
    truemoment predict ... --prompts seconds,clock,mine.toml   how much figures depend on the prompt
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    if Path(endpoint).is_dir():
        _refuse_others(Path(endpoint))
        _predict_with_run(Path(endpoint), data, run, files, seed=seed, limit=limit, workers=requests.workers)
        return
    _refuse_no_endpoint(endpoint, run.given)
    if frames.prompts is not None:
        _predict_with_prompts(endpoint, data, requests, frames, files, seed=seed, limit=limit, price=_price(price))
        return
    _predict_with_endpoint(endpoint, data, requests, frames, files, seed=seed, limit=limit, price=_price(price))


def _predict_with_run(
    folder: Path,
    data: AnnotationSource,
    run: _RunPredictionOptions,
    files: _PredictionFiles,
    *,
    seed: int,
    limit: int | None,
    workers: int | None,
) -> None:
    """Predict with a trained run."""
    from truemoment.learning.training import report_prediction as reports
    from truemoment.learning.training.film_parts import parts_folder
    from truemoment.learning.training.prediction import predict_with_run
    from truemoment.learning.training.progress import unseen
    from truemoment.learning.training.run_options import RunOptions

    files.refuse_names()
    inputs = [*files_of_run(folder), source_file(run.features), run.sentences, *data.files()]
    refuse_outputs(inputs, [files.out, files.json_path])

    def track(items: Any, what: str) -> Any:  # noqa: ANN401 - a progress bar
        from tqdm import tqdm

        return tqdm(items, desc=what, leave=False)

    options = RunOptions(
        folder,
        data.data_dir,
        run.features,
        run.change,
        seed,
        sentences=run.sentences,
        first_look=run.first_look,
    )
    try:
        found = predict_with_run(
            options,
            data,
            files.out,
            chunk_s=run.chunk_s,
            limit=limit,
            engine=cast("Engine", run.engine),
            workers=workers,
            track=track if files.output.progress else unseen,
        )
    except KeyboardInterrupt:
        if parts_folder(files.out).is_dir():
            click.echo("truemoment: finished parts are saved; the same command resumes from there", err=True)
        raise
    deliver_log(reports.report_of_run(found), lambda: reports.document_of_run(found), files.output)
    for note in found.notes:
        say(f"note: {note}", err=True)


def _predict_with_endpoint(
    url: str,
    data: AnnotationSource,
    requests: _RequestOptions,
    frames: _FrameOptions,
    files: _PredictionFiles,
    *,
    seed: int,
    limit: int | None,
    price: Price | None,
) -> None:
    """Predict with a served model."""
    from truemoment.learning.served import get_prompt
    from truemoment.learning.served.prediction import files_of_videos, predict_with_endpoint
    from truemoment.learning.training import report_prediction as reports

    # Mistakes in the options are reported before files are read.
    endpoint = requests.endpoint(url, seed)
    prompt = get_prompt(frames.prompt_name)
    sampling = frames.sampling(prompt)
    files.refuse_names()
    raw = files.raw_file()
    written = [files.out, raw, files.json_path]
    own_prompt = Path(frames.prompt_name) if frames.prompt_name.lower().endswith(".toml") else None
    refuse_outputs([own_prompt, *data.files()], written)

    reference = data.read()
    queries = reference.queries.first(limit)
    paths = {}
    if frames.videos is not None and sampling is not None:
        paths = files_of_videos(frames.videos, queries, skip_missing=frames.on_missing_video == "skip")
    refuse_outputs(paths.values(), written)
    model = _served(endpoint, prompt, raw, paths, reference, requests, frames, files, seed=seed)
    try:
        found = predict_with_endpoint(model, reference, queries, files.out)
    except KeyboardInterrupt:
        say(f"truemoment: {_saved(raw)}; the same command resumes from there", err=True)
        raise
    deliver_log(reports.report(found, price), lambda: reports.document(found, price), files.output)
    suggest("measure them:", ["truemoment", "evaluate", str(files.out), *data.words()], files.output)
    for line in reports.warnings(found):
        say(line, err=True)
    if found.answers.unanswered:
        click.get_current_context().exit(EXIT_NOT_ALL)


def _served(
    endpoint: Endpoint,
    prompt: Prompt,
    raw: Path,
    paths: Mapping[str, Path],
    reference: Annotations,
    requests: _RequestOptions,
    frames: _FrameOptions,
    files: _PredictionFiles,
    *,
    seed: int,
    shared: SharedFrames | None = None,
) -> ServedModel:
    """Return the served model with a prompt."""
    from truemoment.learning.served import ServedModel

    return ServedModel(
        endpoint,
        prompt,
        raw,
        paths,
        frames.sampling(prompt) if prompt.shows_frames else None,
        shuffle_seed=seed if frames.shuffled and prompt.shows_frames else None,
        workers=requests.workers or DEFAULT_REQUESTS,
        progress=files.output.progress,
        dataset=reference.dataset,
        split=reference.split,
        shared=shared,
    )


def _predict_with_prompts(
    url: str,
    data: AnnotationSource,
    requests: _RequestOptions,
    frames: _FrameOptions,
    files: _PredictionFiles,
    *,
    seed: int,
    limit: int | None,
    price: Price | None,
) -> None:
    """Predict with several prompts, one after the other, and compare them."""
    from click.core import ParameterSource

    from truemoment.evaluation.uncertainty import DrawSettings
    from truemoment.learning.served import get_prompt
    from truemoment.learning.served.prediction import files_of_videos
    from truemoment.learning.served.prompt_study import out_of, predict_with_prompts
    from truemoment.learning.served.shared_frames import SharedFrames
    from truemoment.learning.training import report_prediction as prediction
    from truemoment.learning.training import report_prompts as prompts

    given = click.get_current_context().get_parameter_source("prompt_name") == ParameterSource.COMMANDLINE
    if given or files.raw is not None:
        raise UsageError(f"{'--prompt' if given else '--raw'}: does not go with --prompts, which has one per prompt")
    endpoint = requests.endpoint(url, seed)
    asked = {prompt.name: prompt for prompt in map(get_prompt, frames.names())}
    if len(asked) < len(frames.names()):
        raise UsageError("--prompts: two prompts have the same name, expected a name each")
    for name in asked:
        if not set(name) <= _NAME_LETTERS:
            raise UsageError(f"--prompts: got the name {name!r}, expected letters, digits, - and _: it names a file")
    showing = [prompt for prompt in asked.values() if prompt.shows_frames]
    sampling = frames.sampling((showing or list(asked.values()))[0])
    files.refuse_names()
    outs = {name: out_of(files.out, name) for name in asked}
    raws = {name: replace(files, out=out).raw_file() for name, out in outs.items()}
    written = [*outs.values(), *raws.values(), files.json_path]
    own = [Path(name) for name in frames.names() if name.lower().endswith(".toml")]
    refuse_outputs([*own, *data.files()], written)

    reference = data.read()
    queries = reference.queries.first(limit)
    paths = {}
    if frames.videos is not None and sampling is not None:
        paths = files_of_videos(frames.videos, queries, skip_missing=frames.on_missing_video == "skip")
    refuse_outputs(paths.values(), written)
    shared = SharedFrames()
    models = {
        name: _served(endpoint, prompt, raws[name], paths, reference, requests, frames, files, seed=seed, shared=shared)
        for name, prompt in asked.items()
    }
    try:
        study = predict_with_prompts(models, reference, queries, outs, DrawSettings(seed=seed))
    except KeyboardInterrupt:
        for raw in raws.values():
            say(f"truemoment: {_saved(raw)}; the same command resumes from there", err=True)
        raise
    deliver_log(prompts.report(study, price), lambda: prompts.document(study, price), files.output)
    for name, found in study.found.items():
        for line in prediction.warnings(found):
            say(f"{name}: {line}", err=True)
    if any(found.answers.unanswered for found in study.found.values()):
        click.get_current_context().exit(EXIT_NOT_ALL)


_NAME_LETTERS = frozenset(string.ascii_letters + string.digits + "-_")
"""What the name of a prompt is made of where it names a file."""


def _refuse_others(folder: Path) -> None:
    """Refuse options of an endpoint with a trained run."""
    from click.core import ParameterSource

    context = click.get_current_context()
    given = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name not in (*_OF_RUNS, "json_path", "quiet", "threads")
        and context.get_parameter_source(parameter.name or "") == ParameterSource.COMMANDLINE
    ]
    if given:
        raise UsageError(f"{', '.join(given)}: needs an endpoint, and {folder} is a folder")


def _refuse_no_endpoint(endpoint: str, given: list[str]) -> None:
    """Refuse what is neither a run nor an address, and options of a run that were given with an address."""
    if "://" not in endpoint:
        raise UsageError(
            f"{Path(endpoint)}: no such run of truemoment train, and no address of a served model, "
            "expected e.g. runs/tan2d or http://localhost:8000/v1"
        )
    if given:
        raise UsageError(f"{', '.join(given)}: belongs to a folder made by truemoment train, and {endpoint} is none")


def _fields(texts: tuple[str, ...]) -> dict[str, Any]:
    """Read --set FIELD=JSON."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(f"--set: got {text!r}, expected FIELD=JSON, e.g. --set temperature=0.5")
        try:
            found[name] = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            raise UsageError(
                f"--set {name}: got {value!r}, expected JSON, e.g. 0.5, true, null or '\"text\"'"
            ) from None
    return found


def _price(text: str | None) -> Price | None:
    """Read --price IN,OUT."""
    from truemoment.base.boundary.files import read_number
    from truemoment.learning.served.prediction import Price

    if text is None:
        return None
    parts = [read_number(part) for part in text.split(",")]
    if len(parts) != 2 or not all(part >= 0 for part in parts):
        raise UsageError(f"--price: got {text!r}, expected two prices of a million tokens, in and out, e.g. 2.5,10")
    return Price(*parts)


def _saved(raw: Path) -> str:
    lines = 0
    if raw.is_file():
        with open_regular(updating(raw)) as stream:
            lines = sum(1 for _ in stream) - 1
    return f"{max(0, lines)} raw answers are saved in {raw}"
