"""truemoment predict endpoint: predict with a served model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from truemoment.base.request import Out, option
from truemoment.cli import binder
from truemoment.cli.delivery import deliver_log, suggest
from truemoment.cli.parts import ModelThreads, Output
from truemoment.cli.predict.parts import ServedModelOptions, own_prompts, raw_beside, report_saved, warn_and_exit


@dataclass(frozen=True, kw_only=True)
class PredictEndpoint(ServedModelOptions):
    """A served model with one prompt."""

    prompt: str = option(
        "Prompt: seconds, clock, json, text-only, or your own file.", "seconds", metavar="NAME|FILE.toml"
    )
    raw: Out[Path | None] = option("Raw answers. [default: OUT.raw.jsonl]", metavar="FILE", rare=True)

    def inputs(self) -> list[Path]:
        """Return the file of the user's own prompt."""
        return own_prompts(self.prompt)


@binder.command("endpoint")
def command(request: PredictEndpoint, _threads: ModelThreads, output: Output) -> None:
    """Predict with a served model.

    ENDPOINT is the address of an OpenAI-compatible interface, e.g. http://localhost:8000/v1. The key, if it
    needs one, comes from the environment.

    Every raw answer is saved. The same command resumes an interrupted one and sends no request twice.
    Exit status 1 means that some queries have no answer.

    \b
    truemoment predict endpoint http://localhost:8000/v1 --model qwen --videos videos ...
    truemoment predict endpoint ... --prompt text-only -o floor.jsonl  for audit --text-only
    truemoment predict endpoint ... --shuffled -o shuffled.jsonl  for audit --shuffled
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.learning.served import get_prompt
    from truemoment.learning.served.prediction import predict_with_endpoint
    from truemoment.learning.training import report_prediction as reports

    out, raw = request.file, request.raw or raw_beside(request.file)
    reference, models = request.models({"": get_prompt(request.prompt)}, {"": out}, {"": raw}, output)
    with report_saved([raw]):
        prediction = predict_with_endpoint(models[""], reference, reference.queries.first(request.limit), out)
    price = request.parsed_price()
    deliver_log(reports.report(prediction, price), lambda: reports.document(prediction, price), output)
    suggest("measure them:", ["truemoment", "evaluate", str(out), *request.source.words()], output)
    warn_and_exit({"": prediction})
