"""truemoment predict prompts: predict with several prompts of a served model, and compare them."""

from __future__ import annotations

import string
from dataclasses import dataclass, replace
from pathlib import Path

from truemoment.base.errors import UsageError
from truemoment.base.request import argument
from truemoment.cli import binder
from truemoment.cli.delivery import deliver_log
from truemoment.cli.outputs import refuse_outputs
from truemoment.cli.parts import ModelThreads, Output
from truemoment.cli.predict.parts import report_saved, warn_and_exit
from truemoment.learning.served.request import ServedModelOptions, own_prompts, raw_beside

_NAME_LETTERS = frozenset(string.ascii_letters + string.digits + "-_")
"""What the name of a prompt is made of, which names a file."""


@dataclass(frozen=True, kw_only=True)
class PredictPrompts(ServedModelOptions):
    """A served model with several prompts."""

    url: str = argument(metavar="ENDPOINT")
    prompts: tuple[str, ...] = argument(metavar="PROMPT...")

    def inputs(self) -> list[Path]:
        """Return the files of the user's own prompts."""
        return own_prompts(*self.prompts)

    def check(self) -> None:
        """Refuse fewer than two prompts, and one that is given twice."""
        if len(set(self.prompts)) < max(2, len(self.prompts)):
            raise UsageError(
                f"got {' '.join(self.prompts)}, expected two or more different prompts, e.g. clock mine.toml"
            )


@binder.command("prompts")
def command(request: PredictPrompts, _threads: ModelThreads, output: Output) -> None:
    """Predict with several prompts of a served model, and measure how much figures depend on them.

    ENDPOINT is an address, as for 'truemoment predict endpoint'. PROMPT is seconds, clock, json, text-only,
    or your own file. Each has its own files, whose names are that of -o with the name of the prompt.

    \b
    truemoment predict prompts http://localhost:8000/v1 seconds clock mine.toml --model qwen ...
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.evaluation.uncertainty import DrawSettings
    from truemoment.learning.served import get_prompt
    from truemoment.learning.served.prompt_study import out_of, predict_with_prompts
    from truemoment.learning.training import report_prompts as reports

    prompts = {prompt.name: prompt for prompt in map(get_prompt, request.prompts)}
    if len(prompts) < len(request.prompts):
        raise UsageError("two prompts have the same name, expected a name each")
    for name in prompts:
        if not set(name) <= _NAME_LETTERS:
            raise UsageError(f"got a prompt with the name {name!r}, expected letters, digits, - and _: it names a file")
    outs = {name: out_of(request.file, name) for name in prompts}
    raws = {name: raw_beside(out) for name, out in outs.items()}
    reference, models = replace(request, progress=output.progress).models(prompts, raws)
    read = [*request.source.files(), *(path for model in models.values() for path in model.videos.values())]
    refuse_outputs(read, [*outs.values(), *raws.values(), output.json_path])
    with report_saved(raws.values()):
        queries = reference.queries.first(request.limit)
        study = predict_with_prompts(models, reference, queries, outs, DrawSettings(seed=request.seed))
    price = request.parsed_price()
    deliver_log(reports.report(study, price), lambda: reports.document(study, price), output)
    warn_and_exit({f"{name}: ": prediction for name, prediction in study.predictions.items()})
