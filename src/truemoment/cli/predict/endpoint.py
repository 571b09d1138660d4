"""truemoment predict endpoint: predict with a served model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from truemoment.cli import binder
from truemoment.cli.delivery import deliver_log, suggest
from truemoment.cli.outputs import refuse_outputs
from truemoment.cli.parts import ModelThreads, Output
from truemoment.cli.predict.parts import report_saved, warn_and_exit
from truemoment.learning.served.request import EndpointRequest


@binder.command("endpoint")
def command(request: EndpointRequest, _threads: ModelThreads, output: Output) -> None:
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
    from truemoment.cli.api.endpoints import predict_by

    out, raw = request.file, request.raw_file

    def check(files: list[Path]) -> None:
        refuse_outputs(files, [out, raw, output.json_path])

    with report_saved([raw]):
        predicted = predict_by(replace(request, progress=output.progress), on_files=check)
    deliver_log(predicted.report(), predicted.document, output)
    suggest("measure them:", ["truemoment", "evaluate", str(out), *request.source.words()], output)
    warn_and_exit({"": predicted.prediction})
