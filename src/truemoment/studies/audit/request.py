"""The options of an audit."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Literal

from truemoment.base.errors import UsageError
from truemoment.base.request import AnyFile, In, InRun, Request, Running, argument, option
from truemoment.studies.request import Fitting, MappedData, Measuring, ReadingPredictions, Testing

if TYPE_CHECKING:
    from truemoment.studies.request import AnyPredictions

MethodReads = Literal["sentence", "paragraph"]
"""Text that a method reads: one sentence at a time, or also the video's other sentences."""


@dataclass(frozen=True, kw_only=True)
class Related(Request):
    """Optional inputs of an audit besides the predictions."""

    HEADING = "Beside the audit"

    select_split: str | None = option(
        "Validation split on which floors are measured too. [default: val if there is one]", metavar="NAME", rare=True
    )
    iid: In[AnyPredictions | None] = option("Predictions of the same method on test-iid.", metavar="PREDICTIONS")
    iid_split: str = option("Name of the split of --iid.", "test-iid", metavar="NAME", rare=True)
    shuffled: In[AnyPredictions | None] = option("Predictions on shuffled videos.", metavar="PREDICTIONS")
    text_only: In[AnyPredictions | None] = option(
        "Predictions of the same model without the frames, a floor of its own.", metavar="PREDICTIONS"
    )
    model: InRun[AnyFile | None] = option(
        "Folder of the model ('truemoment train'), which then predicts on changed videos too.", metavar="RUN"
    )
    features: In[str | None] = option("Features that --model reads. [default: as in training]", metavar="SOURCE")

    queries: In[AnyFile | None] = option(
        "Rows of the words of each query that --model reads. [default: as in training]", metavar="DIR", rare=True
    )

    def check(self) -> None:
        """Refuse what only a model reads, without one."""
        for name in ("features", "queries"):
            if getattr(self, name) is not None and self.model is None:
                raise UsageError(f"--{name}: only a model reads these; give its folder (--model)")


@dataclass(frozen=True)
class AuditRequest(MappedData, Fitting, Related, Measuring, ReadingPredictions, Testing, Running):
    """Options of an audit: predictions, annotations, and what the method reads."""

    predictions: In[AnyPredictions] = argument()
    _: KW_ONLY
    engine: str = option(
        "Engine that finds verbs: lexicon, spacy or spacy:MODEL.", "lexicon", metavar="NAME", rare=True
    )
    reads: MethodReads | None = option(
        "Declare what the method reads: one sentence at a time, or also the video's other sentences.",
        rare=True,
    )
    gate: str | None = option(
        "Exit 1 unless all conditions pass: names of checks, or figures such as shortcut-share<0.8, judged by their "
        "95 % intervals.",
        metavar="'A; B'",
    )
