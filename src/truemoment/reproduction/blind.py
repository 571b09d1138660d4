"""What is a published number worth? Published results of models that see the video beside the sentence network.

Every row holds a published figure and what the sentence network, which never sees a video, scores on the same split by
the same measure: our figure less theirs. It is trained on the same training split and answers each measure with what is
worth most by it. Nothing is judged: these are not the same method.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from truemoment.audit.floors import NETWORK, Floor
from truemoment.audit.floors import Setting as FloorSetting
from truemoment.baselines import BASELINES
from truemoment.comparison import PublishedFigure
from truemoment.evaluation import evaluate
from truemoment.measures import parse_measures
from truemoment.protocols import get_protocol
from truemoment.reproduction.base import Reproduced, Setting, Table, beside, with_ours

BESIDE = ("best-constant", "sentence-neighbours")
"""Other floors that are shown without a published figure."""


def blind_beside_published(figures: Sequence[PublishedFigure], setting: Setting) -> Iterator[Reproduced]:
    """Fit the sentence network on each training split; set it beside each published figure of its test splits."""
    protocol = get_protocol("default")
    for (dataset, split), of_split in groupby(figures, key=lambda figure: (figure.dataset, figure.split)):
        rows = list(of_split)
        names = list(dict.fromkeys(figure.measure for figure in rows))
        measures = parse_measures("; ".join(names))
        train, test = setting.load(dataset, "training"), setting.load(dataset, split)
        floors = FloorSetting(test, measures, protocol, train=train, cache=setting.cache, tell=setting.tell)
        values: dict[str, dict[str, list[float]]] = {}
        for name in (NETWORK, *BESIDE):
            setting.tell(f"{name} on {dataset}, {split}")
            draws = Floor(name, floors).answers(test)
            values[name] = {
                of: [evaluate(test, answers[m], [measures[m]], protocol).value(measures[m]) for answers in draws]
                for m, of in enumerate(names)
            }
        yield from (beside(figure, values[NETWORK][figure.measure], tolerance=None, reason=REASON) for figure in rows)
        for name in (NETWORK, *BESIDE):
            for of in names:
                place = ("truemoment", "floor", dataset, split, BASELINES[name].meaning, of)
                yield with_ours(Reproduced(*place, unit="percent"), values[name][of])


REASON = "ours is the sentence network, which never sees a video: mean of two trainings"

TABLES = (
    Table(
        "blind-beside-published",
        "A network that only reads the sentence, beside published models that see the video",
        "ours, beside figures collected from the literature",
        ("charades-sta", "activitynet-captions", "tacos", "charades-cd", "activitynet-cd"),
        "blind_beside_published.csv",
        blind_beside_published,
    ),
)
