"""truemoment predict: ask a served model, or a trained one, every query of a split."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truemoment.cli.options import STANDARD_OUTPUT, data_options, refuse_outputs, seed_option, told_path, write_json
from truemoment.cli.trained import answer, first_queries
from truemoment.datasets.source import AnnotationSource, files_of
from truemoment.exceptions import MissingFileError, UsageError
from truemoment.folders import refuse_links
from truemoment.inputs import updating
from truemoment.text import printable

if TYPE_CHECKING:
    from truemoment.records import Queries
    from truemoment.served.report import Price

ALL_MOMENTS = 1000
DEFAULT_FPS = 1.0
SHOWN = 5
EXIT_NOT_ALL = 1


@click.command("predict")
@click.argument("endpoint", metavar="ENDPOINT|RUN")
@click.option("--model", metavar="NAME", help="The model's name at the endpoint.")
@data_options
@click.option("--features", metavar="SOURCE", help="What a RUN sees, in place of what it was trained on.")
@click.option("--change", metavar="WAY", help="Show a RUN its videos shuffled, reversed, frozen or other-video.")
@click.option("--videos", type=click.Path(path_type=Path), metavar="DIR", help="Folder of videos, VIDEO.mp4 and so on.")
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
    help="What the model is told: seconds, clock, json, text-only, or a file of your own.",
)
@click.option("--fps", type=float, metavar="F", help="Frames a second that are shown. [default: 1]")
@click.option("--frames", "n_frames", type=int, metavar="N", help="Frames a video, in place of --fps.")
@click.option("--longest-side", type=int, default=448, show_default=True, metavar="PX", help="Of a frame.")
@click.option("--shuffled", is_flag=True, help="Show the frames in another order: the randomised-video check.")
@seed_option("the request, and of the order of --shuffled")
@click.option(
    "--max-tokens", type=click.IntRange(min=1), default=256, show_default=True, metavar="N", help="An answer."
)
@click.option(
    "--set",
    "fields",
    multiple=True,
    metavar="FIELD=JSON",
    help="A field of the request; null leaves it out. May be given again.",
)
@click.option("--key-variable", metavar="NAME", help="Variable that holds the key. [default: OPENAI_API_KEY]")
@click.option(
    "--workers", type=click.IntRange(1, 256), default=4, show_default=True, metavar="N", help="Asked at a time."
)
@click.option(
    "--retries", type=click.IntRange(0, 100), default=6, show_default=True, metavar="N", help="Of a request that fails."
)
@click.option(
    "--timeout",
    "timeout_s",
    type=float,
    default=120.0,
    show_default=True,
    metavar="S",
    help="Seconds for a whole request.",
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Ask the first N queries only.")
@click.option("--price", metavar="IN,OUT", help="Of a million tokens, to tell the cost.")
@click.option("--raw", type=click.Path(path_type=Path), metavar="FILE", help="Raw answers. [default: OUT.raw.jsonl]")
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), required=True, metavar="FILE", help="Predictions, .jsonl."
)
@click.option(
    "--json",
    "json_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the report as JSON ('-': alone).",
)
@click.option("--quiet", is_flag=True, help="No report, and no progress on standard error.")
def command(
    endpoint: str,
    model: str | None,
    dataset: str | None,
    annotations: Path | None,
    split: str | None,
    data_dir: Path | None,
    features: str | None,
    change: str | None,
    videos: Path | None,
    on_missing_video: str,
    prompt_name: str,
    fps: float | None,
    n_frames: int | None,
    longest_side: int,
    shuffled: bool,
    seed: int,
    max_tokens: int,
    fields: tuple[str, ...],
    key_variable: str | None,
    workers: int,
    retries: int,
    timeout_s: float,
    limit: int | None,
    price: str | None,
    raw: Path | None,
    out: Path,
    json_path: Path | None,
    quiet: bool,
) -> None:
    """Ask a served model, or one of truemoment train, when things happen in videos.

    RUN is a folder made by truemoment train. ENDPOINT is the address of an OpenAI-compatible interface, e.g.
    http://localhost:8000/v1. The key, if it asks for one, comes from the environment.

    Every raw answer is kept. The same command goes on where it was broken off, and asks nothing twice.
    Exit status 1 says that some queries could not be asked.

    \b
    truemoment predict runs/tan2d --dataset charades-cd --split test-ood -o preds.jsonl
    truemoment predict http://localhost:8000/v1 --model qwen --videos videos/ -o answers.jsonl ...
    truemoment predict ... --prompt text-only -o floor.jsonl   for audit --text-only floor.jsonl
    truemoment predict ... --shuffled -o shuffled.jsonl        for audit --shuffled shuffled.jsonl
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.io import write_predictions
    from truemoment.served import Endpoint, ServedModel, get_prompt, key_from_environment, report
    from truemoment.video import Sampling

    data = AnnotationSource(dataset, annotations, split, data_dir)
    if Path(endpoint).is_dir():
        _refuse_others(Path(endpoint))
        answer(
            Path(endpoint), data, features, change, out=out, json_path=json_path, limit=limit, seed=seed, quiet=quiet
        )
        return
    _refuse_no_endpoint(endpoint, changed=features is not None or change is not None)
    if model is None:
        raise UsageError("which model? give --model NAME, as the endpoint calls it")
    # Mistakes in the options are told before files are read.
    key, variable = key_from_environment(endpoint, key_variable)
    options = {"temperature": 0, "max_tokens": max_tokens, "seed": seed} | _fields(fields)
    options = {name: value for name, value in options.items() if value is not None}
    served = Endpoint(endpoint, model, key, variable, timeout_s=timeout_s, retries=retries, options=options)
    asked_price = None if price is None else _price(price)
    prompt = get_prompt(prompt_name)
    sampling = None
    if prompt.shows_frames:
        sampling = Sampling(DEFAULT_FPS if fps is None and n_frames is None else fps, n_frames, longest_side)
        if videos is None:
            raise UsageError(f"prompt {prompt.name} shows frames: give --videos DIR, or --prompt text-only")
    elif fps is not None or n_frames is not None or shuffled:
        raise UsageError(f"prompt {prompt.name} shows no frames, expected no --fps, --frames and --shuffled")
    if out.suffix.lower() not in (".jsonl", ".json"):
        raise UsageError(f"-o: got {told_path(out)}, expected a name that ends in .jsonl")
    raw = raw or _raw_beside(out)
    own_prompt = Path(prompt_name) if prompt_name.lower().endswith(".toml") else None
    refuse_outputs([annotations, own_prompt, *files_of(dataset, data_dir)], [out, raw, json_path])

    reference = data.read()
    queries = first_queries(reference.queries, limit)
    paths = {} if videos is None or sampling is None else _videos(videos, queries, skip=on_missing_video == "skip")
    refuse_outputs(paths.values(), [out, raw, json_path])
    method = ServedModel(
        served,
        prompt,
        raw,
        paths,
        sampling,
        shuffle_seed=seed if shuffled else None,
        workers=workers,
        progress=not quiet and sys.stderr.isatty(),
        dataset=reference.dataset,
        split=reference.split,
    )
    try:
        asked = method.ask(queries)
    except KeyboardInterrupt:
        click.echo(f"truemoment: {_kept(raw)}; the same command goes on from there", err=True)
        raise
    predictions, parsing = method.read(asked, ALL_MOMENTS)
    made_by = method.made_by
    write_predictions(out, predictions, reference, made_by=made_by)
    told = report.Told(method.name, reference, asked, parsing, made_by, asked_price, told_path(out), told_path(raw))
    if json_path is not None:
        write_json(json_path, report.document(told))
    if not quiet:
        _tell(told, err=json_path == STANDARD_OUTPUT, evaluate=_evaluate(out, data))
    for note in report.notes(told):
        click.echo(printable(note), err=True)
    if asked.unanswered:
        click.get_current_context().exit(EXIT_NOT_ALL)


OF_RUNS = ("endpoint", "dataset", "annotations", "split", "data_dir", "features", "change", "seed", "limit", "out")
"""Options that a trained method takes too, beside --json and --quiet."""


def _raw_beside(out: Path) -> Path:
    """Return the file of raw answers that nobody has named; only one that the user names may be a link."""
    raw = out.with_suffix(".raw.jsonl")
    refuse_links(raw.parent, raw.name)
    return raw


def _refuse_others(folder: Path) -> None:
    """Refuse options of an endpoint that were given with a trained method."""
    from click.core import ParameterSource

    context = click.get_current_context()
    given = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name not in (*OF_RUNS, "json_path", "quiet")
        and context.get_parameter_source(parameter.name or "") == ParameterSource.COMMANDLINE
    ]
    if given:
        raise UsageError(f"{', '.join(given)}: is of an endpoint, and {told_path(folder)} is a folder")


def _refuse_no_endpoint(endpoint: str, *, changed: bool) -> None:
    """Refuse what is neither a run nor an address, and options of a run that were given with an address."""
    if "://" not in endpoint:
        raise UsageError(
            f"{told_path(Path(endpoint))}: no such run of truemoment train, and no address of a served model, "
            "expected e.g. runs/tan2d or http://localhost:8000/v1"
        )
    if changed:
        raise UsageError(f"--features, --change: are of a folder made by truemoment train, and {endpoint} is none")


def _tell(told: Any, *, err: bool, evaluate: str) -> None:  # noqa: ANN401 - its module is imported late
    from truemoment.served import report

    click.echo("\n".join(map(printable, report.lines(told))), err=err)
    click.echo(f"measure them:\n  {evaluate}", err=err)


def _fields(texts: tuple[str, ...]) -> dict[str, Any]:
    """Read --set FIELD=JSON."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(f"--set: got {text!r}, expected FIELD=JSON, e.g. --set temperature=0.5")
        try:
            found[name] = json.loads(value)
        except (ValueError, RecursionError):
            raise UsageError(
                f"--set {name}: got {value!r}, expected JSON, e.g. 0.5, true, null or '\"text\"'"
            ) from None
    return found


def _price(text: str) -> Price:
    """Read --price IN,OUT."""
    from truemoment.files import read_number
    from truemoment.served.report import Price

    parts = [read_number(part) for part in text.split(",")]
    if len(parts) != 2 or not all(part >= 0 for part in parts):
        raise UsageError(f"--price: got {text!r}, expected two prices of a million tokens, in and out, e.g. 2.5,10")
    return Price(*parts)


def _videos(folder: Path, queries: Queries, *, skip: bool) -> dict[str, Path]:
    """Find the file of each video asked about."""
    from truemoment.video import VIDEO_SUFFIXES, find_videos

    wanted = list(dict.fromkeys(queries.video_id))
    found = find_videos(folder, wanted)
    missing = [video for video in wanted if video not in found]
    if missing and not (skip and found):
        named = ", ".join(missing[:SHOWN]) + (", ..." if len(missing) > SHOWN else "")
        raise MissingFileError(
            f"{told_path(folder)}: lacks {len(missing)} of {len(wanted)} videos ({named}), expected their id and one "
            f"of {' '.join(VIDEO_SUFFIXES)}; --on-missing-video skip leaves their queries unanswered"
        )
    return found


def _kept(raw: Path) -> str:
    lines = updating(raw).read_bytes().count(b"\n") - 1 if raw.is_file() else 0
    return f"{max(0, lines)} raw answers are kept in {told_path(raw)}"


def _evaluate(out: Path, data: AnnotationSource) -> str:
    """Return the command that measures what was written."""
    import shlex

    return shlex.join(["truemoment", "evaluate", told_path(out), *data.words()])
