"""Model selection: choices, Z-scores and regret held against loops from their definitions."""

from __future__ import annotations

import statistics
import time
from dataclasses import replace

import numpy as np
import pytest

from truemoment import Annotations, Predictions, get_protocol, parse_measures
from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats
from truemoment.base.records import as_strings
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.scores import Scores
from truemoment.studies.meta.selection import Selection, best_of, mean_over, select, z_scores
from truemoment.studies.meta.systems import Systems

MEASURES = "R@1,IoU=0.5; R@1,IoU=0.7; R@2,IoU=0.5; AxIoU@2"


def answered(seed: int, split: str, *, n_variants: int = 7, n_videos: int = 12, measures: str = MEASURES) -> Systems:
    """Evaluate variants of two answers a query on random annotations: one's error is another's ranking."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(3 * n_videos):
        start = float(rng.uniform(0, 20))
        end = start + float(rng.uniform(2, 9))
        rows.append(
            (f"v{number % n_videos}#{number // n_videos}", f"v{number % n_videos}", 30.0, "it rains", start, end)
        )
    annotations = Annotations.from_rows(rows, split=split)

    def variant(number: int) -> Scores:
        care = (number * 3) % n_variants  # the more care for ranking, the larger the error: what is best depends
        error, noise = 1.2 + 0.12 * care, 4.0 - 0.6 * care
        answers = {}
        for query_id, start, end in zip(annotations.query_id, annotations.start_s, annotations.end_s, strict=True):
            moved = np.maximum(np.array([start, end])[None] + rng.normal(0, error, (2, 2)), 0)
            far = np.abs(moved - [start, end]).sum(axis=1) + rng.normal(0, noise, 2)
            answers[str(query_id)] = [(*sorted(moved[at].tolist()), float(-far[at])) for at in (0, 1)]
        return evaluate(annotations, Predictions.from_lists(answers), measures)

    return Systems({f"variant {number}": variant(number) for number in range(n_variants)})


VALIDATION, TEST = answered(1, "val"), answered(2, "test", measures="R@1,IoU=0.5; AxIoU@1; R@2,IoU=0.7")


def study(validation: Systems = VALIDATION, test: Systems = TEST, seed: int = 0, resamples: int = 40) -> Selection:
    return select(validation, test, np.random.default_rng(seed), resamples=resamples)


def systems_of(figures: Floats, measures: str = "R@1,IoU=0.5; mIoU", split: str = "val") -> Systems:
    """Systems with these figures (N, M), each from 10 queries of 10 videos of one value."""
    parsed = parse_measures(measures)
    names = [f"q{at}" for at in range(10)]
    return Systems(
        {
            f"v{number}": Scores(
                measures=parsed,
                protocol=get_protocol("default"),
                query_id=as_strings(names, "query_id"),
                video_id=as_strings(names, "video_id"),
                numerator=np.repeat(np.asarray(of_variant, dtype=np.float64)[:, None], 10, axis=1),
                weight=np.ones((len(parsed), 10)),
                on_threshold=np.full(len(parsed), -1),
                split=split,
            )
            for number, of_variant in enumerate(figures)
        }
    )


def slow(validation: Systems, test: Systems) -> tuple[list[int], list[int], list[list[float]], list[list[float]]]:
    """Chosen, tied, z and regret, one number at a time (AxIoU paper, section 6.6)."""
    chosen, tied, best = [], [], []
    for measure in validation.measures:
        figures = [scores.value(measure) for scores in validation.scores.values()]
        best.append([number for number, figure in enumerate(figures) if figure == max(figures)])
        chosen.append(best[-1][0])
        tied.append(len(best[-1]))
    z: list[list[float]] = [[] for _ in chosen]
    regret: list[list[float]] = [[] for _ in chosen]
    for measure in test.measures:
        figures = [scores.value(measure) for scores in test.scores.values()]
        of_chosen = [statistics.fmean(figures[number] for number in of_best) for of_best in best]
        mean, spread = statistics.fmean(of_chosen), statistics.pstdev(of_chosen)
        for row, figure in enumerate(of_chosen):
            z[row].append((figure - mean) / spread if spread else 0.0)
            regret[row].append(max(figures) - figure)
    return chosen, tied, z, regret


def test_choices_z_scores_and_regret_are_those_of_a_loop():
    found = study()
    chosen, tied, z, regret = slow(VALIDATION, TEST)
    assert found.selected.tolist() == chosen
    assert found.tied.tolist() == tied
    assert len(set(chosen)) > 1  # or there would be nothing to tell apart
    assert found.z == pytest.approx(np.array(z), abs=1e-9)
    assert found.regret == pytest.approx(np.array(regret), abs=1e-12)
    assert found.by_lot == pytest.approx((TEST.figures.max(axis=0) - TEST.figures).mean(axis=0))


def test_resampled_choices_are_those_of_a_loop_over_resamples():
    found = study(resamples=25)
    rng = np.random.default_rng(0)
    videos = list(dict.fromkeys(VALIDATION.first.video_id))
    test = TEST.figures
    regrets, again = [], np.zeros(len(VALIDATION.measures))
    for _ in range(25):
        drawn = rng.integers(len(videos), size=len(videos)).tolist()
        counts = np.array([drawn.count(videos.index(video)) for video in VALIDATION.first.video_id])
        of_resample = []
        for row in range(len(VALIDATION.measures)):
            figures = [
                (counts * scores.numerator[row]).sum() / (counts * scores.weight[row]).sum()
                for scores in VALIDATION.scores.values()
            ]
            best = [number for number, figure in enumerate(figures) if figure >= max(figures) - 1e-12]
            whole = [scores.value(VALIDATION.measures[row]) for scores in VALIDATION.scores.values()]
            first = [number for number, figure in enumerate(whole) if figure >= max(whole) - 1e-12]
            again[row] += len(set(best) & set(first)) / (len(best) * len(first))  # two lots that agree
            of_resample.append(test.max(axis=0) - test[best].mean(axis=0))
        regrets.append(of_resample)
    assert found.regret_mean == pytest.approx(np.mean(regrets, axis=0))
    assert found.regret_interval[..., 1] == pytest.approx(np.quantile(regrets, 0.975, axis=0))
    assert found.lost == pytest.approx(np.mean(regrets, axis=2))
    assert found.stays == pytest.approx(again / 25)
    assert found.order.tolist() == np.argsort(np.mean(regrets, axis=(0, 2)), kind="stable").tolist()


def test_z_scores_of_the_choices_average_nothing_and_spread_by_one():
    found = study()
    differ = np.ptp(found.selected_figures, axis=0) > 0
    assert found.z.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert found.z[:, differ].std(axis=0) == pytest.approx(1)


def test_z_scores_are_nothing_where_all_choices_score_alike():
    assert z_scores(np.array([[0.1 + 0.2, 0.5], [0.3, 0.7]])).tolist() == [[0, -1], [0, 1]]


def test_an_undefined_figure_leaves_its_column_undefined():
    assert np.isnan(z_scores(np.array([[np.nan, 0.25], [0.3, 0.75]]))).tolist() == [[True, False], [True, False]]


def test_a_validation_measure_chooses_perfectly_on_the_very_same_queries():
    found = study(VALIDATION, VALIDATION)
    assert np.diagonal(found.regret).tolist() == [0] * len(VALIDATION.measures)
    assert (found.regret >= 0).all()


def test_less_is_better_where_the_measure_says_so():
    figures = np.array([[0.2, 0.9], [0.1, 0.5], [0.4, 0.7]])
    found = study(systems_of(figures, "FalseAbstention; mIoU"), systems_of(figures, "FalseAbstention; mIoU", "test"))
    assert found.selected.tolist() == [1, 0]  # lowest false abstention, highest mIoU
    assert found.regret == pytest.approx(np.array([[0.0, 0.4], [0.1, 0.0]]))
    assert found.z == pytest.approx(np.array([[1.0, -1.0], [-1.0, 1.0]]))  # higher is better in both


def test_of_those_that_tie_one_is_chosen_by_lot_and_their_number_told():
    figures = np.array([[0.1, 0.1], [0.3, 0.1 + 0.2], [0.3, 0.3]])  # 0.1 + 0.2 is 0.30000000000000004
    judged = np.array([[0.1, 0.1], [0.2, 0.4], [0.4, 0.3]])
    found = study(systems_of(figures), systems_of(judged, split="test"))
    assert found.selected.tolist() == [1, 1]
    assert found.tied.tolist() == [2, 2]
    assert found.selected_figures == pytest.approx(np.array([[0.3, 0.35], [0.3, 0.35]]))
    assert found.regret == pytest.approx(np.array([[0.1, 0.05], [0.1, 0.05]]))
    turned = study(systems_of(figures[[0, 2, 1]]), systems_of(judged[[0, 2, 1]], split="test"))
    assert turned.regret == pytest.approx(found.regret)  # the order of files decides nothing


def test_only_copies_tie_all_and_lose_nothing():
    one = VALIDATION.first
    validation = Systems(dict.fromkeys("abc", one))
    test = Systems(dict.fromkeys("abc", TEST.first))
    found = study(validation, test)
    assert found.tied.tolist() == [3] * len(validation.measures)
    assert not found.regret.any()
    assert not found.z.any()
    assert found.stays == pytest.approx(1 / 3)  # by lot among three, twice


def test_a_copy_of_every_variant_leaves_regret_as_it_is():
    def with_copies(systems: Systems) -> Systems:
        return Systems(systems.scores | {f"copy of {name}": scores for name, scores in systems.scores.items()})

    found, more = study(), study(with_copies(VALIDATION), with_copies(TEST))
    assert more.selected.tolist() == found.selected.tolist()
    assert more.regret == pytest.approx(found.regret)
    assert more.regret_mean == pytest.approx(found.regret_mean)
    assert more.tied.tolist() == (2 * found.tied).tolist()


def test_the_order_of_the_variants_changes_no_choice_where_none_ties():
    def turned(systems: Systems) -> Systems:
        return Systems(dict(reversed(systems.scores.items())))

    found, again = study(), study(turned(VALIDATION), turned(TEST))
    alone = found.tied == 1
    assert alone.any()
    names = [[of.variants[number] for number in of.selected[alone]] for of in (found, again)]
    assert names[0] == names[1]
    assert again.regret[alone] == pytest.approx(found.regret[alone])


def test_what_loses_least_comes_first_and_its_distance_to_itself_is_nothing():
    found = study(resamples=200)
    lost = found.lost.mean(axis=0)
    assert lost[found.order].tolist() == sorted(lost.tolist())
    assert found.behind[found.order[0]].tolist() == [0, 0]
    assert found.worse_than_first[found.order[0]] == 0
    difference = found.lost - found.lost[:, found.order[:1]]
    assert found.behind[:, 1] == pytest.approx(np.quantile(difference, 0.975, axis=0))
    assert found.worse_than_first == pytest.approx((difference > 1e-12).mean(axis=0))


def test_more_validation_videos_choose_the_same_more_often():
    few, many = (study(answered(3, "val", n_videos=n), resamples=100).stays.mean() for n in (6, 150))
    assert many > few


def test_the_same_seed_gives_the_same_spread():
    assert study(seed=1).regret_mean.tolist() == study(seed=1).regret_mean.tolist()
    assert study(seed=1).lost.tolist() != study(seed=2).lost.tolist()


def test_an_undefined_variant_is_never_chosen():
    assert best_of(np.array([np.nan, 0.2, 0.1])).tolist() == [False, True, False]


def test_a_choice_that_is_undefined_on_the_test_split_is_undefined():
    among = np.array([[True, True], [True, False], [False, False]])  # (variants, measures)
    found = mean_over(among, np.array([[0.5, 0.1], [0.25, np.nan], [np.nan, 0.3]]))
    assert found[0, 0] == 0.375
    assert np.isnan(found[0, 1])
    assert found[1].tolist() == [0.5, 0.1]


def test_names_on_one_side_only_are_refused_in_a_line():
    test = Systems({name: scores for name, scores in TEST.scores.items() if name != "variant 2"})
    with pytest.raises(
        UsageError, match=r"^got variant 2 on the validation side only, expected the same variants on b"
    ):
        study(VALIDATION, test)
    with pytest.raises(UsageError, match=r"^got variant 2 on the test side only"):
        study(Systems({name: VALIDATION.scores[name] for name in test.names}), TEST)


def test_another_order_is_refused():
    with pytest.raises(
        UsageError, match="got variant 'variant 0' of the validation side where the test side has 'vari"
    ):
        study(VALIDATION, Systems(dict(reversed(TEST.scores.items()))))


def test_a_measure_that_no_variant_has_is_refused():
    nothing = Systems({name: replace(one, weight=one.weight * 0) for name, one in VALIDATION.scores.items()})
    with pytest.raises(UsageError, match=r"R@1,IoU=0\.5: is defined for no variant on the validation side"):
        study(nothing, TEST)


@pytest.mark.thorough
def test_a_real_study_takes_seconds():
    """640 variants x 12 measures, as in the AxIoU paper; a tenth of its queries keeps the test short."""
    rng = np.random.default_rng(0)
    first = systems_of(
        np.zeros((2, 12)), "; ".join(f"R@{k},IoU={m}" for k in (1, 2, 5, 10) for m in (0.3, 0.5, 0.7))
    ).first
    names = as_strings([f"q{at}" for at in range(372)], "query_id")
    videos = as_strings([f"v{at % 133}" for at in range(372)], "video_id")
    ones = np.ones((12, 372))

    def side(split: str) -> Systems:
        return Systems(
            {
                f"v{number}": replace(
                    first,
                    query_id=names,
                    video_id=videos,
                    weight=ones,
                    numerator=(rng.random((12, 372)) < 0.5).astype(np.float64),
                    split=split,
                )
                for number in range(640)
            }
        )

    validation, test = side("val"), side("test")
    begin = time.perf_counter()
    assert study(validation, test, resamples=1000).regret.shape == (12, 12)
    assert time.perf_counter() - begin < 30  # some 2 s; slow machines share their cores
