"""Request of a run of a baseline."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from truemoment.base.boundary.text import printable
from truemoment.base.errors import UsageError
from truemoment.base.request import AnyFile, Out, Request, Running, argument, number, option, seed
from truemoment.studies.request import FittedOn, MappedData, Measuring, VerbEngine

FORMATS = {".jsonl": "native", ".json": "native", ".parquet": "parquet"}
"""Formats of predictions by the ending of the file."""


@dataclass(frozen=True, kw_only=True)
class BaselineSettings(Request):
    """Settings of baselines."""

    HEADING = "Fitting"

    fit_measure: str = option(
        "Measure for which best-constant and the models of sentences are fitted.", "R@1,IoU=0.5", metavar="MEASURE"
    )
    proposals: str = option(
        "Proposals of mean-map, random-chance and oracle: sparse-map:N, sliding-windows, "
        "windowed-grid[:window=FRAMES,fps=F,...].",
        "sparse-map:16",
        metavar="SCHEME",
    )


@dataclass(frozen=True)
class BaselineRequest(MappedData, FittedOn, VerbEngine, BaselineSettings, Measuring, Running):
    """The baseline, what it is fitted on, and the split on which it is measured."""

    name: str = argument(metavar="NAME", complete="baselines")
    _: KW_ONLY
    top: int = number("Maximum number of predictions per query.", 10, 1, 10_000, metavar="K")
    repeats: int = number("Number of runs of a baseline that draws.", 1, 1, 100_000)
    seed: int = seed("the draws")
    out: Out[AnyFile | None] = option("File for the predictions.", name="-o --out", metavar="FILE")

    @property
    def format(self) -> str:
        """The format of the predictions, by the ending of their file."""
        ending = Path(self.out or "predictions.jsonl").suffix.lower()
        if ending not in FORMATS:
            raise UsageError(f"--out: got {printable(str(self.out))}, expected a name that ends in .jsonl or .parquet")
        return FORMATS[ending]
