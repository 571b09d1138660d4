"""From which share of truly found moments on is a method called better? python benchmarks/known_share.py [PLACE...]

PLACE is DATASET/SPLIT, e.g. charades-sta/test. A method finds the moments of a drawn share of the queries, and answers
the others as a network does that is kept back: the sentence network, judged against the floors that read one sentence,
or the paragraph network, judged against all. Ten draws a share, `R@1,IoU=0.5`, 1,000 resamples.
"""

import os
import sys

import numpy as np

from truemoment.base.boundary.caching import Cache
from truemoment.base.records import Annotations, Predictions
from truemoment.baselines import (
    Choices,
    ExpectedValue,
    ParagraphNetwork,
    SentenceNetwork,
    make_baseline,
)
from truemoment.baselines.expected_value import PlaceModel
from truemoment.baselines.floors import FloorResult, Setting, run_floors
from truemoment.data.datasets import load_annotations
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.evaluation.scores import Scores
from truemoment.studies.audit.verdict import judge_floors

DATA = os.environ.get("TRUEMOMENT_DATA", "../shared/data")
PLACES = (
    "charades-sta/test",
    "charades-cd/test-ood",
    "tacos/test",
    "activitynet-cd/test-ood",
    "activitynet-captions/val_2",
)
MEASURES, PROTOCOL = parse_measures("R@1,IoU=0.5"), get_protocol("default")
SHARES, DRAWS = (0.0, 0.02, 0.05, 0.1, 0.2), 10


def finds(answers: Predictions, annotations: Annotations, share: float, rng: np.random.Generator) -> Predictions:
    """Return answers of which a share is replaced by the first reference."""
    queries = annotations.queries
    found = rng.random(len(queries)) < share
    at, first = answers.offsets[answers.rows_of(queries.query_id)], annotations.offsets[:-1]
    start, end = (
        np.where(found, true[first], own[at])
        for true, own in ((annotations.start_s, answers.start_s), (annotations.end_s, answers.end_s))
    )
    return Predictions(queries.query_id, np.arange(len(queries) + 1), start, end, np.ones(len(queries)))


def judged(scores: Scores, floors: list[FloorResult], best: Scores, rng: np.random.Generator) -> str:
    """Return the verdict against floors."""
    errors, margin = np.array([of.standard_error for of in floors]), np.array([of.margin for of in floors])
    of_floors = [of.scores for of in floors]
    return judge_floors(scores, of_floors, best, errors, rng, resamples=1000, margin=margin).kind(0)


def main(places: list[str]) -> None:
    """Print, for each split and kind of guessing, how often the method is called better and worse."""
    for place in places or PLACES:
        dataset, _, split = place.partition("/")
        train, test = (load_annotations(dataset, name, data_dir=DATA) for name in ("train", split))
        floors, _ = run_floors(Setting(test, MEASURES, PROTOCOL, train=train, cache=Cache.of_user()))
        oracle = make_baseline("oracle", Choices(references=test)).ground(test.queries, 1)
        best = evaluate(test, oracle, MEASURES, PROTOCOL)
        sentence = SentenceNetwork(np.random.default_rng(200)).fit(train)
        models: dict[str, PlaceModel] = {"sentence": sentence}
        if any(of.reads == "paragraph" for of in floors):
            models["paragraph"] = ParagraphNetwork(np.random.default_rng(200), sentence).fit(train)
        for reads, model in models.items():
            (method,) = ExpectedValue(model, protocol=PROTOCOL).for_measures(MEASURES)
            answers = method.ground(test.queries)
            against = [of for of in floors if reads == "paragraph" or of.reads != "paragraph"]
            for share in SHARES:
                rng, kinds, figures = np.random.default_rng(0), [], []
                for _ in range(DRAWS):
                    scores = evaluate(test, finds(answers, test, share, rng), MEASURES, PROTOCOL)
                    kinds.append(judged(scores, against, best, rng))
                    figures.append(100 * scores.value(MEASURES[0]))
                better, worse = (100 * np.mean([kind == of for kind in kinds]) for of in ("better", "worse"))
                row = f"| {place} | {reads} | {100 * share:.0f} % | {np.mean(figures):.1f}"
                print(f"{row} | {better:.0f} % | {worse:.0f} % |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
