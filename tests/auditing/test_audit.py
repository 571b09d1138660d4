"""The audit's results and checks: what is chosen where, what is compared with what, what is said."""

import dataclasses

import numpy as np
import pytest

from truemoment import Annotations, Predictions, load_annotations, read_predictions
from truemoment.base.boundary.caching import NO_CACHE, Cache
from truemoment.base.errors import UsageError
from truemoment.baselines import Choices, make_baseline
from truemoment.baselines.floors import DRAWS, FITS, FLOORS, NETWORK, answers_a_query, join_measures
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.studies.audit import CHECKS, AuditSetup, Results, Splits, audit
from truemoment.studies.audit.checks import conventions
from truemoment.studies.audit.verdict import judge_floors

pytestmark = pytest.mark.slow

DEFAULT = get_protocol("default")

OWN = ("own-answers", "own-answers-similar")
OF_DENSITIES = {"bias-based", "prior-only", "action-aware"}
"""Floors that cannot be fitted here: all training moments are a fifth of the video long, so they lie on a line."""

OF_ORDER = {"order-table", "paragraph-network"}
"""Those that are not run here: the sentences of a video are in no order."""

TRIED = f"{len(FLOORS) - len(OF_DENSITIES) - len(OF_ORDER) + len(OWN)} blind baselines tried"


def case_of(annotations, predictions, **more):
    measures = parse_measures("R@1,IoU=0.3; R@1,IoU=0.5; mIoU")
    more = {"resamples": 200, "permutations": 99, "cache": Cache.of_user()} | more
    return AuditSetup(annotations, predictions, measures, DEFAULT, **more)


def audited(annotations, predictions, **more):
    """Give the results of an audit, of which nothing is computed before a check looks at it."""
    return Results(case_of(annotations, predictions, **more), 0)


def finding(results, check):
    return next(of for of in CHECKS if of.name == check).look(results)


@pytest.fixture(scope="module")
def train(invented):
    return invented("train", 60, 1)


@pytest.fixture(scope="module", name="test")
def audited_split(invented):
    return invented("test", 60, 2)


# ---- Floors


def test_the_strongest_floor_of_the_audited_split_leads(plain_audit):
    """Headline, tiles, share and gate quote one floor: the one with the highest figure on this very split."""
    results = plain_audit.results
    for m, measure in enumerate(results.setup.measures):
        values = [floor.scores.value(measure) for floor in results.floors]
        assert values[int(results.verdict.strongest[m])] == max(values)
        assert results.strongest_scores.value(measure) == max(values)
        assert results.verdict.difference[m] == pytest.approx(results.scores.value(measure) - max(values), abs=1e-12)
    name, m = results.strongest(results.headline), results.headline
    by_check = {of.check: of for of in plain_audit.findings}
    for check in ("better-than-guessing", "skill", "shortcut-share"):
        assert name.lower() in by_check[check].verdict.lower(), check
    assert by_check["shortcut-share"].figure == pytest.approx(
        results.strongest_scores.value(results.measure) / results.scores.value(results.measure), abs=1e-12
    )
    assert by_check["better-than-guessing"].figure == results.verdict.difference[m]
    assert by_check["skill"].figure == results.verdict.skill[m]


def test_the_floor_chosen_on_validation_is_evidence(plain_audit):
    results = plain_audit.results
    m, measure = results.headline, results.measure
    validated = {floor.name: floor.validated.value(measure) for floor in results.floors if floor.name not in OWN}
    chosen = max(validated, key=validated.get)
    own, there = results.scores.value(measure), results.floor(chosen).scores.value(measure)
    [line] = [line for line in plain_audit.findings[0].evidence if line.startswith("the strongest floor on val is ")]
    assert line == (
        f"the strongest floor on val is {results.floor(chosen).name_at(m)} ({100 * validated[chosen]:.2f}); on "
        f"{plain_audit.results.annotations.split} the method is {100 * (own - there):+.1f} points from it"
    )


def test_every_floor_has_its_figure_on_the_validation_split(plain_audit):
    """That is what evaluate gives of the answers of a floor that draws nothing."""
    results = plain_audit.results
    validation = results.setup.splits.validation
    for name in ("predict-all", "best-constant", "mean-map", "sentence-neighbours"):
        floor = results.floor(name)
        for m, measure in enumerate(results.setup.measures):
            (methods,) = floor.floor.fitted
            again = evaluate(validation, methods[m].ground(validation.queries, 10), [measure])
            assert again.value(measure) == floor.validated.value(measure)


def test_a_floor_that_wins_on_the_audited_split_alone_takes_the_title_away(train, test, constant):
    """Every moment of it is the whole video, which no training moment is: PredictAll has 100."""
    rows = [(q, v, 50.0, s, 0.0, 50.0) for q, v, s in zip(test.query_id, test.video_id, test.sentence, strict=True)]
    whole = Annotations.from_rows(rows, dataset="invented", split="test")
    found = audited(whole, constant(whole, 0.0, 40.0), splits=Splits(train=train))
    verdict = finding(found, "better-than-guessing")
    assert verdict.holds is False
    assert " PredictAll at R@1,IoU=0.5 (100.00 against 100.00)" in verdict.verdict
    assert verdict.verdict.startswith(f"Not decided against the {TRIED}: 0.0 points ")
    assert finding(found, "shortcut-share").holds is False


@pytest.mark.parametrize(
    "name", ["predict-all", "uniform", "random-chance", "best-constant", "mean-map", "sentence-neighbours"]
)
def test_no_floor_is_better_than_guessing(train, test, name):
    choices = Choices(np.random.default_rng(17), protocol=DEFAULT)
    method = make_baseline(name, choices).fit(train).ground(test.queries, 1)
    assert finding(audited(test, method, splits=Splits(train=train)), "better-than-guessing").holds is not True


@pytest.mark.parametrize(("start", "end"), [(0.6, 0.9), (0.55, 0.9), (0.6, 0.95), (0.65, 0.9), (0.62, 0.88)])
def test_a_constant_where_moments_were_moved_is_not_better_than_guessing(train, start, end):
    # Training moments teach no floor where those of the test lie; a constant that never looks may, by luck.
    rng = np.random.default_rng(3)
    near = np.clip(np.array([0.6, 0.9]) + rng.normal(0, 0.05, (80, 2)), 0, 1) * 50
    rows = [(f"m{k}#0", f"m{k}", 50.0, "a person opens a door", *near[k]) for k in range(80)]
    moved = Annotations.from_rows(rows, dataset="invented", split="test")
    method = Predictions.from_lists({q: [(50 * start, 50 * end, 1.0)] for q in moved.queries.query_id})
    verdict = finding(audited(moved, method, splits=Splits(train=train)), "better-than-guessing")
    assert verdict.holds is not True
    assert " its own prediction for another video at R@1,IoU=0.5 " in verdict.verdict


def test_without_a_training_split_only_floors_that_need_none_are_run(test, references_as_answers):
    found = audited(test, references_as_answers(test))
    assert {floor.name for floor in found.floors} == {
        "predict-all",
        "uniform",
        "random-chance",
        "own-answers",
        "own-answers-similar",
    }
    verdict = finding(found, "better-than-guessing")
    assert verdict.verdict.endswith(
        "No floor has learned where moments usually are, because there is no training split (--fit-split, "
        "--fit-annotations)."
    )
    assert (verdict.level, verdict.holds) == ("warning", None)


def test_floors_give_no_more_answers_than_the_method(train, test, constant):
    found = audited(test, constant(test, 0.0, 10.0), splits=Splits(train=train))
    assert {floor.name for floor in found.floors} == {*FLOORS, *OWN} - OF_DENSITIES - OF_ORDER
    assert all(floor.predictions.lengths.max() == 1 for floor in found.floors)


@pytest.mark.parametrize(("name", "n"), [("uniform", DRAWS), ("random-chance", DRAWS), (NETWORK, FITS[NETWORK])])
def test_a_floor_that_is_drawn_is_the_mean_of_its_draws(plain_audit, name, n):
    floor = plain_audit.results.floor(name)
    values = np.array([[draw.value(of) for of in plain_audit.results.setup.measures] for draw in floor.draws])
    assert len(values) == n
    mean = [floor.scores.value(of) for of in plain_audit.results.setup.measures]
    assert mean == pytest.approx(values.mean(axis=0), abs=1e-12)
    spread = np.sqrt(((values - values.mean(axis=0)) ** 2).sum(axis=0) / (n - 1))
    assert floor.spread == pytest.approx(spread, abs=1e-12)
    assert floor.standard_error == pytest.approx(spread / np.sqrt(n), abs=1e-12)
    assert len(set(values[:, 1])) > 1  # each draw is another


def test_the_spread_of_draws_is_in_the_interval(plain_audit):
    """A verdict of the mean alone would be too sure: with the spread every floor's interval is wider."""
    results = plain_audit.results
    without = judge_floors(
        results.scores,
        [floor.scores for floor in results.floors],
        results.ceiling("perfect").scores,
        np.zeros((len(results.floors), len(results.setup.measures))),
        results.stream("verdict"),
        resamples=results.setup.resamples,
    )
    width, width_without = (np.diff(of.against_ci95)[..., 0] for of in (results.verdict, without))
    for number, floor in enumerate(results.floors):
        is_wider, moves = width[number] > width_without[number], floor.standard_error > 0  # two draws can be equal
        assert is_wider.tolist() == moves.tolist(), floor.name
        assert np.all(width[number] == width_without[number]) != bool(floor.draws), floor.name


@pytest.mark.parametrize(
    ("longest", "measures", "top"), [(30, "R@1,IoU=0.5", 1), (30, "R@50,IoU=0.5", 30), (3, "mAP", 3)]
)
def test_floors_give_as_many_answers_as_the_method_and_the_measures_look_at(test, longest, measures, top):
    lists = {q: [(float(k), float(k) + 5, -k) for k in range(longest)] for q in test.queries.query_id}
    assert answers_a_query(Predictions.from_lists(lists), parse_measures(measures)) == top


def test_joined_measures_keep_their_rows(test, constant):
    one = evaluate(test, constant(test, 0.0, 10.0), "R@1,IoU=0.5; mIoU")
    other = evaluate(test, constant(test, 5.0, 50.0), "R@1,IoU=0.5; mIoU")
    joined = join_measures([(one, 0), (other, 1)])
    assert [str(m) for m in joined.measures] == ["R@1,IoU=0.5", "mIoU"]
    assert joined.value("R@1,IoU=0.5") == one.value("R@1,IoU=0.5")
    assert joined.value("mIoU") == other.value("mIoU")


# ---- What is said


def test_a_constant_answer_is_not_better(train, test, constant):
    """The best constant hits what the first fifth hits (0-15 % is the earliest that does: its IoU is 0.75)."""
    found = audited(test, constant(test, 0.0, 10.0), splits=Splits(train=train))
    verdict = finding(found, "better-than-guessing")
    assert (verdict.level, verdict.holds) == ("serious", False)
    assert verdict.verdict.startswith("Not decided")
    hits = 100 * np.mean(test.start_s == 0)
    assert f"({hits:.2f} against {hits:.2f})" in verdict.verdict
    assert found.floor("best-constant").name_at(1) == "best constant (0-15 % of the video)"
    assert finding(found, "shortcut-share").figure == 1
    assert finding(found, "skill").figure == 0
    pattern = finding(found, "answer-pattern")
    assert "100 % of the first answers are 0-20 % of the video" in pattern.verdict
    assert pattern.holds is False


def test_the_right_answer_is_better(train, test, references_as_answers):
    found = audited(test, references_as_answers(test), splits=Splits(train=train))
    verdict = finding(found, "better-than-guessing")
    assert verdict.verdict.startswith(f"Better than the {TRIED}: ")
    assert verdict.level == "good"
    # All sentences are alike: no floor knows more than a constant, and the best one hits those that start at 0.
    assert found.floor("best-constant").scores.value("R@1,IoU=0.5") == np.mean(test.start_s == 0)
    assert finding(found, "shortcut-share").figure == pytest.approx(np.mean(test.start_s == 0), abs=1e-15)
    assert finding(found, "skill").figure == 1
    assert finding(found, "errors").verdict == "No first answer is wrong."


def test_nothing_is_undefined_in_silence(train, test, constant):
    """A method without a single hit: shares of its score are undefined, and the words are that."""
    found = audited(test, constant(test, 48.0, 50.0), splits=Splits(train=train))
    share = finding(found, "shortcut-share")
    assert (share.figure, share.holds) == (None, None)
    assert "undefined" in share.verdict
    assert "is 0, so it has no share on long references" in finding(found, "long-moments").verdict


def test_silence_is_counted_and_costs(train, test):
    found = audited(test, Predictions.from_lists({}), splits=Splits(train=train))
    assert finding(found, "answer-pattern").verdict == "No query is answered."
    assert found.scores.value("mIoU") == 0
    verdict = finding(found, "better-than-guessing")
    assert verdict.verdict.startswith(f"Worse than the strongest of the {TRIED}: ")


def test_too_few_videos_show_nothing(train, test, references_as_answers):
    """Five videos: no p value of a test that swaps videos is below 2 / 2^5 = 0.0625."""
    few = test.select_queries(np.isin(test.queries.video_id, [f"test{v}" for v in range(5)]))
    verdict = finding(audited(few, references_as_answers(few), splits=Splits(train=train)), "better-than-guessing")
    assert (verdict.level, verdict.holds) == ("warning", None)
    assert verdict.verdict.startswith("Not decided: 5 videos are too few for any difference to be shown; ")


def test_a_coarse_grid_is_no_fault_where_references_lie_on_it(train, test, references_as_answers):
    """Every reference lies on multiples of 5 s, and right answers do too."""
    assert (
        finding(audited(test, references_as_answers(test), splits=Splits(train=train)), "answer-pattern").holds is True
    )


def test_floors_that_cannot_be_fitted_are_named(train, test, constant):
    found = audited(test, constant(test, 0.0, 10.0), splits=Splits(train=train))
    assert {line.partition(" could not be fitted: ")[0] for line in found.left_out} == OF_DENSITIES
    evidence = finding(found, "better-than-guessing").evidence
    assert {f"left out: {line}" for line in found.left_out} <= set(evidence)
    order = "floors that read the video's other sentences were not run: the order of a video's sentences"
    assert any(line.startswith(order) for line in evidence)


def test_queries_without_a_duration_are_left_out_of_what_floors_learn(train, test, constant):
    unknown = dataclasses.replace(train, duration_s=np.where(np.arange(len(train)) < 3, np.nan, train.duration_s))
    found = audited(test, constant(test, 0.0, 10.0), splits=Splits(train=unknown, validation=train))
    assert found.left_out[:-3] == ("3 of 120 queries of train have no duration",)
    alone = audited(test, constant(test, 0.0, 10.0), splits=Splits(train=train.select_queries(np.arange(120) >= 3)))
    assert found.floor("best-constant").scores.value("mIoU") == alone.floor("best-constant").scores.value("mIoU")
    nothing = dataclasses.replace(train, duration_s=np.full(len(train), np.nan))
    with pytest.raises(UsageError, match=r"invented/train: no video's duration is known \(duration_s\)"):
        finding(audited(test, constant(test, 0.0, 10.0), splits=Splits(train=nothing)), "better-than-guessing")


def test_shared_videos_and_sentences_are_named(train, test, constant):
    rows = [("other#0", test.video_id[0], 50.0, "he sits", 1.0, 2.0)]
    other = Annotations.from_rows(rows, dataset="invented", split="val")
    leak = finding(
        audited(test, constant(test, 0.0, 10.0), splits=Splits(train=train, others=(train, other))), "leakage"
    )
    assert leak.level == "serious"
    assert "val (1 of 60)" in leak.verdict
    only_train = finding(
        audited(test, constant(test, 0.0, 10.0), splits=Splits(train=train, others=(train,))), "leakage"
    )
    assert "100 % of its sentences (120 of 120) are verbatim in train" in only_train.verdict


def test_the_same_seed_gives_the_same_audit(train, test, constant):
    """Whether the floors are fitted, or recalled from the cache."""
    case = case_of(test, constant(test, 5.0, 20.0), splits=Splits(train=train))
    fresh = dataclasses.replace(case, cache=NO_CACHE)
    first, again = (audit(of, seed=3) for of in (fresh, case))
    assert first.findings == again.findings
    assert np.array_equal(first.results.ci95, again.results.ci95)


def test_every_check_has_a_name_of_its_own(plain_audit):
    names = [f.check for f in plain_audit.findings]
    assert len(set(names)) == len(names)
    assert len(names) <= len(CHECKS)
    assert names[0] == "better-than-guessing"
    assert {check.name for check in CHECKS} >= set(names)


def test_what_is_shared_is_computed_once(test, constant):
    called = []
    found = audited(test, constant(test, 0.0, 10.0))

    def compute(results):
        called.append(results)
        return len(called)

    assert (found.cached(compute), found.cached(compute), called) == (1, 1, [found])


def test_refusals(test, constant):
    unknown = dataclasses.replace(test, duration_s=np.full(len(test), np.nan))
    with pytest.raises(UsageError, match="needs every video's duration"):
        case_of(unknown, constant(test, 0.0, 10.0))
    with pytest.raises(UsageError, match=r"drops the 120 queries without a prediction.*missing=worst"):
        AuditSetup(test, Predictions.from_lists({}), parse_measures("mIoU"), get_protocol("default,missing=drop"))
    with pytest.raises(UsageError, match="found the audited split as the one to fit or choose on"):
        case_of(test, constant(test, 0.0, 10.0), splits=Splits(validation=test))
    with pytest.raises(UsageError, match="needs measures of moments"):
        AuditSetup(test, constant(test, 0.0, 10.0), parse_measures("HIT@1,min=VeryGood"), DEFAULT)


# ---- Real data


@pytest.fixture(scope="module")
def hao(data_dir):
    annotations = load_annotations("charades-cd", "test-ood", data_dir=data_dir)
    train, val = (load_annotations("charades-cd", name, data_dir=data_dir) for name in ("train", "val"))
    file = data_dir / "predictions" / "hao2022_charades_cd_test_ood.json"
    predictions, match = read_predictions(file, annotations)
    case = AuditSetup(
        annotations,
        predictions,
        parse_measures(DEFAULT.measures),
        DEFAULT,
        match=match,
        splits=Splits(others=(train, val)),
        resamples=200,
        permutations=999,
    )
    return Results(case, 0)


@pytest.mark.data
def test_the_whole_video_and_faulty_answers_of_a_public_file(hao):
    """Figures of the issue: 58.84 and 27.00 of the whole video; 598 answers past the end, 5 of zero length."""
    loose = finding(hao, "loose-threshold").verdict
    assert "The whole video as the answer scores 58.84 at R@1,IoU=0.3 and 27.00 at dR@1,IoU=0.3" in loose
    evidence = finding(hao, "validity").evidence
    assert "598 answers end after the end of their video" in evidence
    assert "5 answers have zero length" in evidence


@pytest.mark.data
def test_protocol_sensitivity_of_a_public_file(hao):
    """Figures of the README's table, which peers' own evaluators gave."""
    percent = {name: round(100 * value, 2) for name, value in hao.cached(conventions.conventions).items()}
    assert (percent["default"], percent["moment-detr"], percent["hidden-challenges"]) == (46.84, 47.32, 46.90)
    assert (percent["2d-tan"], percent["vslnet"]) == (46.61, 47.02)


@pytest.mark.data
def test_leaks_of_activitynet_captions(data_dir):
    """All 4,885 videos of val_2 are also in val_1 (counted in the annotation files)."""
    annotations = load_annotations("activitynet-captions", "val_2", data_dir=data_dir)
    other = load_annotations("activitynet-captions", "val_1", data_dir=data_dir)
    predictions = Predictions.from_lists(
        {q: [(0.0, d, 1.0)] for q, d in zip(annotations.queries.query_id, annotations.queries.duration_s, strict=True)}
    )
    leak = finding(audited(annotations, predictions, splits=Splits(others=(other,))), "leakage")
    assert leak.level == "serious"
    assert "val_1 (4,885 of 4,885)" in leak.verdict
