"""The options of an audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from truemoment.base.errors import UsageError
from truemoment.base.request import AnyFile, In, InRun, Request, Running, argument, option
from truemoment.studies.request import Fitting, MappedData, Measuring, ReadingPredictions, Testing

if TYPE_CHECKING:
    from truemoment.studies.request import AnyPredictions

MethodReads = Literal["sentence", "paragraph"]
"""Text that a method reads: one sentence at a time, or also the video's other sentences."""


def _by_folder(words: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Read folders of changed videos, and predictions on them."""
    folders = [folder for folder, _ in words]
    if repeated := next((folder for folder in folders if folders.count(folder) > 1), None):
        raise UsageError(f"--changed: got {repeated} twice, expected one file of predictions each")
    return dict(words)


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

    change: tuple[str, ...] | str = option(
        "Change of the videos that moves the moments, on which --model predicts too: prepended-noise[:SECONDS], "
        "truncated or concatenated; can be repeated.",
        (),
        metavar="CHANGE",
        rare=True,
    )
    changed: In[Mapping[str, AnyPredictions]] = option(
        "Folder of 'truemoment features change', and predictions on its videos; can be repeated.",
        (),
        metavar="FOLDER PREDICTIONS",
        rare=True,
        words=tuple[tuple[str, str], ...],
        read=_by_folder,
    )
    queries: In[AnyFile | None] = option(
        "Rows of the words of each query that --model reads. [default: as in training]", metavar="DIR", rare=True
    )

    def inputs(self) -> list[Path]:
        """Return the folders of changed videos."""
        return [Path(folder) for folder in self.changed]

    def check(self) -> None:
        """Refuse what only a model reads, without one, and unknown changes."""
        object.__setattr__(self, "change", (self.change,) if isinstance(self.change, str) else tuple(self.change))
        object.__setattr__(self, "changed", dict(self.changed))
        for name in ("features", "queries", "change"):
            if getattr(self, name) and self.model is None:
                raise UsageError(f"--{name}: only a model reads these; give its folder (--model)")
        if self.change:
            from truemoment.media.features.moving import checked_move

            for move in self.change:
                checked_move(move)


@dataclass(frozen=True)
class AuditRequest(MappedData, Fitting, Related, Measuring, ReadingPredictions, Testing, Running):
    """Options of an audit: predictions, annotations, and what the method reads."""

    predictions: In[AnyPredictions] = argument()
    _: KW_ONLY
    engine: str = option(
        "Engine that finds verbs: lexicon, spacy or spacy:MODEL.", "lexicon", metavar="NAME", rare=True
    )
    reads: MethodReads | None = option(
        "Declare what the method reads: one sentence at a time, or also the video's other sentences.", rare=True
    )
    gate: str | None = option(
        "Exit 1 unless all conditions pass: names of checks, or figures such as shortcut-share<0.8, judged by their "
        "95 % intervals.",
        metavar="'A; B'",
    )
