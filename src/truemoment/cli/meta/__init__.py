"""truemoment meta: what measures are worth, a file a study."""

from __future__ import annotations

from types import MappingProxyType

import click

from truemoment.cli.group import LazyGroup

STUDIES = MappingProxyType(
    {
        "report": "All studies of some systems on one page, with an answer in words.",
        "axioms": "Does a measure ignore redundant answers, and reward better ones? With counterexamples.",
        "agreement": "Rank systems by every measure: which measures agree (Kendall's tau-b)?",
        "stability": "Does a measure give the same ranking on other or fewer queries?",
        "ambiguity": "How do label errors change figures and rankings?",
        "items": "Which queries are difficult, and which can be guessed?",
        "ties": "On how many queries does a measure give all systems the same value?",
        "theory": "Bias and variance of R@1 and AxIoU@1 under noise of the IoU, and beyond.",
        "selection": "Which validation measure selects variants that test well?",
        "power": "Which differences can be shown with how many queries?",
        "population": "Write the answers of simulated systems, to study measures with.",
    }
)


@click.group("meta", cls=LazyGroup, package="truemoment.cli.meta", verbs=STUDIES)
def command() -> None:
    """Study measures: which agree, which are stable, which to select by.

    A SYSTEM is a prediction file of any format, scores saved by 'truemoment evaluate
    --save-scores' (.npz), or a folder of these files; NAME=SYSTEM gives it a name.

    \b
    truemoment meta report runs/*.jsonl --dataset charades-sta --split test --html measures.html
    truemoment meta axioms --measures "R@5,IoU=0.5; AxIoU@10"
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
