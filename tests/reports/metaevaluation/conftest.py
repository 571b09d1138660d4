"""Made-up systems for the tests of reports: hits and values drawn at random, no predictions behind them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from truemoment import get_protocol, parse_measures
from truemoment.base.boundary.documents import as_json
from truemoment.base.records import as_strings
from truemoment.evaluation.scores import Scores
from truemoment.report.render import terminal
from truemoment.studies.meta.reports import StudyReport, document, report
from truemoment.studies.meta.systems import Systems

TWELVE = "; ".join([*(f"R@{k},IoU={m}" for k in (1, 5, 10) for m in (0.3, 0.5, 0.7)), "AxIoU@1", "AxIoU@5", "AxIoU@10"])


def made_up(names: Sequence[str], measures: str = TWELVE, *, n_queries: int = 80, seed: int = 0, **of: str) -> Systems:
    """Draw hits; the later a system the better it is, by some measures more than by others. Two queries a video."""
    rng = np.random.default_rng(seed)
    parsed = parse_measures(measures)
    chance = np.linspace(0.2, 0.7, len(names))[:, None] + rng.normal(0, 0.1, (len(names), len(parsed)))
    drawn = rng.random((len(names), len(parsed), n_queries)) < chance[..., None]
    return Systems(
        {
            name: Scores(
                measures=parsed,
                protocol=get_protocol("default"),
                query_id=as_strings([f"q{at}" for at in range(n_queries)], "query_id"),
                video_id=as_strings([f"v{at // 2}" for at in range(n_queries)], "video_id"),
                numerator=hits.astype(np.float64),
                weight=np.ones(hits.shape),
                on_threshold=np.full(len(parsed), -1),
                annotations_sha256="cd" * 32,
                **({"dataset": "made-up", "split": "test"} | of),
            )
            for name, hits in zip(names, drawn, strict=True)
        }
    )


@pytest.fixture(scope="session")
def make_systems() -> Callable[..., Systems]:
    """Give `made_up`."""
    return made_up


@pytest.fixture(scope="session")
def shown() -> Callable[[ModuleType, object], SimpleNamespace]:
    """Report a result by the module of its study: sentences, notes, tables, drawings, terminal and JSON document."""

    def of(module: ModuleType, result: object) -> SimpleNamespace:
        study = StudyReport.of(module, result)
        whole = report([study])
        (entry,) = as_json(document([study]))["studies"].values()
        return SimpleNamespace(
            study=study,
            title=study.section.title,
            said=study.sentences,
            notes=study.notes,
            tables=whole.tables,
            drawings=whole.drawings,
            document=entry,
            lines=terminal.body(whole),
        )

    return of
