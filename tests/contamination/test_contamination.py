"""Recall of official annotations: planted memorisers are found, and methods that see the video are not called so."""

import json

import numpy as np
import pytest
from scipy import optimize, stats

from truemoment import Annotations, Predictions
from truemoment.base.boundary.folders import lock_folder
from truemoment.base.errors import UsageError
from truemoment.cli import run
from truemoment.data.datasets import load_annotations
from truemoment.data.references import read_annotations
from truemoment.evaluation.uncertainty import DrawSettings, holm
from truemoment.studies.contamination.exact_recall import (
    REACH,
    SIDES,
    MomentPairs,
    _fit,
    _poisson_tail,
    exact_recall,
    rounded_recall,
    tally_of,
)
from truemoment.studies.contamination.probes import probes
from truemoment.studies.contamination.study import detect_contamination

from ..thorough import quick_are

QUICK = DrawSettings(resamples=50, permutations=500)
ROUNDERS = {
    "0.1 s": lambda time_s: np.round(time_s, 1),
    "1 s": np.round,
    "5 s": lambda time_s: 5 * np.round(time_s / 5),
    "1/64": lambda time_s: np.round(time_s / 40 * 64) * 40 / 64,
}


def split(seed, n=1500):
    """Official moments on a grid of 0.1 s in videos of 40 s; a fifth starts at 0, a third ends on a whole second."""
    rng = np.random.default_rng(seed)
    start_s = np.where(rng.random(n) < 0.2, 0.0, np.round(rng.uniform(1, 25, n), 1))
    end_s = np.round(start_s + rng.uniform(3, 14, n), 1)
    end_s = np.where(rng.random(n) < 1 / 3, np.ceil(end_s), end_s)
    return start_s, end_s


def answers_of(start_s, end_s, seed, *, share=0.0, rounder=ROUNDERS["0.1 s"], recall=lambda time_s: time_s):
    """Answers with normal errors of 2 s, or the official moment for a share of the queries."""
    rng = np.random.default_rng([seed, 1])
    remembered = rng.random(len(start_s)) < share
    return tuple(
        np.where(remembered, recall(time_s), np.clip(rounder(time_s + rng.normal(0, 2, len(time_s))), 0, 40))
        for time_s in (start_s, end_s)
    )


def pairs(answers, official):
    n = len(official[0])
    return MomentPairs([f"v{k // 2}" for k in range(n)], np.full(n, 40.0), *answers, *official)


def is_called(of, rng):
    tests = [*(exact_recall(of, side, rng, resamples=0) for side in SIDES), rounded_recall(of, rng, resamples=0)]
    return bool((holm(np.array([test.p for test in tests if test is not None])) <= 0.05).any())


def annotations_and_predictions(share, seed=0, n=1500):
    official = split(seed, n)
    rows = [
        (f"q{k}", f"v{k // 2}", 40.0, f"A person opens door {k}.", start_s, end_s)
        for k, (start_s, end_s) in enumerate(zip(*map(np.ndarray.tolist, official), strict=True))
    ]
    lists = {}
    for k, (start_s, end_s) in enumerate(zip(*answers_of(*official, seed, share=share), strict=True)):
        lists[f"q{k}"] = [(float(start_s), float(end_s))]
    return Annotations.from_rows(rows), Predictions.from_lists(lists)


@pytest.mark.parametrize("rounder", quick_are(["5 s"], ["1 s", "5 s", "1/64"]))
def test_methods_that_see_the_video_are_seldom_called(rounder):
    """At 5 % false alarms, 3 or more of 6 files have a chance of 0.2 % (binomial)."""
    called = 0
    for seed in range(6):
        official = split(seed)
        answers = answers_of(*official, seed, rounder=ROUNDERS[rounder])
        called += is_called(pairs(answers, official), np.random.default_rng(seed))
    assert called <= 2


@pytest.mark.parametrize("share", [0.02, 0.1])
def test_memorisers_are_found_and_their_share_is_estimated(share):
    official = split(0)
    answers = answers_of(*official, 0, share=share)
    found = exact_recall(pairs(answers, official), "both", np.random.default_rng(0), resamples=200)
    assert found.p < 1e-6
    assert found.excess_ci95[0] < share < found.excess_ci95[1]
    assert found.excess == pytest.approx(found.share - found.expected)
    assert found.detectable < 0.02


def test_a_file_of_official_moments_is_found():
    """Every answer is exact, and there is no other answer to compare with."""
    official = split(0, 200)
    for side in SIDES:
        assert exact_recall(pairs(official, official), side, np.random.default_rng(0), resamples=0).p < 1e-4


def test_memorisers_that_round_are_found():
    """Rounded to whole seconds, no answer is exact more often than by chance; the step at half a second shows it."""
    official = split(0)
    answers = answers_of(*official, 0, share=0.1, rounder=np.round, recall=np.round)
    of, rng = pairs(answers, official), np.random.default_rng(0)
    assert exact_recall(of, "both", rng, resamples=0).p > 0.05
    found = rounded_recall(of, rng, resamples=50)
    assert found.p < 1e-4
    assert found.ratio_ci95[0] > 1
    assert rounded_recall(pairs(answers_of(*official, 0), official), rng) is None  # few whole seconds


def test_answers_at_the_ends_of_the_video_are_no_recall():
    """A fifth of the official moments start at 0, and so do all answers here."""
    official = split(0)
    _, end_s = answers_of(*official, 0)
    of = pairs((np.zeros_like(end_s), end_s), official)
    assert not is_called(of, np.random.default_rng(0))
    assert exact_recall(of, "start", np.random.default_rng(0), resamples=0).n_exact == 0


def test_official_times_on_a_coarse_grid_are_not_tested():
    """Segments of 5 s, as in DiDeMo: every method on the same grid is exact."""
    start_s = 5.0 * np.random.default_rng(0).integers(1, 6, 500)
    of = pairs((start_s, start_s + 5), (start_s, start_s + 5))
    assert exact_recall(of, "start", np.random.default_rng(0)) is None
    assert rounded_recall(of, np.random.default_rng(0)) is None


@pytest.mark.parametrize("side", SIDES)
def test_opportunities_against_a_slow_loop(side):
    official = split(3, 80)
    of = pairs(answers_of(*official, 3, share=0.1), official)
    tally = tally_of(of, of.mask(side), side)
    rows = np.flatnonzero(of.mask(side))
    sides = ("start", "end") if side == "both" else (side,)
    inside = of.inside(sides)
    for cell in (0, 7, REACH, len(tally.cells) - 1):
        fits = sum(
            all(
                (round(10 * of.times_s(one)[0][j]) - round(10 * of.times_s(one)[1][i]) - step) % 50 == 0
                for one, step in zip(sides, tally.cells[cell], strict=True)
            )
            for i in rows
            for j in rows
            if i != j and inside[j]
        )
        factor = 50 ** len(sides) / (inside[rows].sum() - 1)
        # exact_recall.EVEN: 5 % of an even spread, which is one opportunity for each official time
        assert tally.opportunities[cell] == pytest.approx(0.95 * fits * factor + 0.05 * len(rows))


def test_fit_and_tail_against_scipy():
    rng = np.random.default_rng(0)
    features = np.column_stack([np.ones(20), rng.random((20, 2))])
    opportunities, counts = rng.uniform(5, 20, 20), rng.poisson(12, 20).astype(float)

    def loss(of):
        log_mean = features @ of + np.log(opportunities)
        return np.sum(np.exp(log_mean) - counts * log_mean) + np.sum((of[1:] / 2.0) ** 2) / 2

    coefficients, _ = _fit(counts[None], opportunities, features)
    counts += 0.5 * opportunities / opportunities.sum()  # ADDED_COUNT
    assert coefficients[0] == pytest.approx(optimize.minimize(loss, np.zeros(3), tol=1e-10).x, abs=1e-4)
    for count, mean in [(0, 3.0), (1, 0.02), (5, 2.5), (40, 60.0), (400, 300.0)]:
        assert _poisson_tail(count, mean) == pytest.approx(stats.poisson.sf(count - 1, mean), rel=1e-9)


def test_probes_find_who_looks_up_the_sentence():
    official, memoriser = annotations_and_predictions(0.1)
    _, honest = annotations_and_predictions(0.0)
    found = detect_contamination(official, memoriser, probes={"other words": honest}, draws=QUICK)
    assert "probe other words" in found.signs
    (probe,) = found.probes
    assert probe.exact.first > 0.05 > probe.exact.second
    assert probe.same == pytest.approx(0.9, abs=0.03)
    same = detect_contamination(official, memoriser, probes={"other words": memoriser}, draws=QUICK)
    assert same.p_holm["probe other words"] == 1
    assert same.probes[0].exact.difference == 0


def test_fresh_annotations_are_not_recalled():
    """Fresh moments are a normal deviate of 1 s away from the official ones."""
    official, memoriser = annotations_and_predictions(0.2)
    rng = np.random.default_rng(5)
    start_s = np.round(np.clip(official.start_s + rng.normal(0, 1, len(official)), 0, 40), 1)
    rows = zip(official.video_id, official.sentence, start_s.tolist(), strict=True)
    fresh = Annotations.from_rows([(f"f{k}", v, 40.0, s, t, t + 8.0) for k, (v, s, t) in enumerate(rows)])
    found = detect_contamination(official, memoriser, fresh=fresh, draws=QUICK)
    assert set(found.signs) == {"starts", "ends", "moments"}
    assert found.fresh.n_queries == official.n_queries
    assert found.fresh.recall["start"].p > 0.05
    near, iou = found.fresh.closeness
    assert near.ci95[0] > 0.1
    assert iou.ci95[0] > 0
    with pytest.raises(UsageError, match="annotates none of the answered queries"):
        detect_contamination(official, memoriser, fresh=Annotations.from_rows([("a", "b", 9.0, "c", 1.0, 2.0)]))


def test_probes_keep_ids_and_moments_and_change_every_sentence():
    official, _ = annotations_and_predictions(0, n=50)
    for probe in probes(official).values():
        assert np.array_equal(probe.query_id, official.query_id)
        assert np.array_equal(probe.start_s, official.start_s)
        assert not np.any(probe.sentence == official.sentence)
    assert np.array_equal(probes(official)["jittered"].sentence, probes(official)["jittered"].sentence)


def test_annotators_are_no_memorisers(data_dir):
    """People who marked queries of Charades-STA again (Hidden Challenges) have not seen the official moments."""
    marked = load_annotations("human-charades", "test", data_dir=data_dir)
    official = load_annotations("charades-sta", "test", data_dir=data_dir)
    for name in sorted(set(marked.annotator)):
        own = marked.select_rows(marked.annotator == name)
        rows = zip(own.query_id, own.start_s.tolist(), own.end_s.tolist(), strict=True)
        answers = Predictions.from_lists({query: [(start_s, end_s)] for query, start_s, end_s in rows})
        assert detect_contamination(official, answers, draws=QUICK).signs == ()


@pytest.mark.usefixtures("undrawn")
def test_the_command_reports_and_writes_probes(tmp_path, capsys):
    from truemoment.data.datasets import own
    from truemoment.data.formats import write_predictions

    official, memoriser = annotations_and_predictions(0.1, n=400)
    mine, preds, out = tmp_path / "mine.jsonl", tmp_path / "preds.jsonl", tmp_path / "found.json"
    own.write(mine, [official])
    write_predictions(preds, memoriser, official)
    few = ["--resamples", "20", "--permutations", "50"]
    words = ["contamination", str(preds), "--annotations", str(mine), "--probe", f"same={preds}", *few]
    page = tmp_path / "page.html"
    assert run([*words, "--json", str(out), "--html", str(page), "--figures", str(tmp_path / "figures")]) == 0
    assert "The predictions recall official annotations" in capsys.readouterr().out
    found = json.loads(out.read_text())
    assert found["schema"] == "truemoment/contamination/1"
    assert [of["test"] for of in found["recall"]] == ["starts", "ends", "moments"]
    assert found["probes"][0]["same"] == 1
    assert "Differences around 0" in page.read_text()
    assert (tmp_path / "figures" / "contamination.csv").is_file()
    assert run(["contamination", "--annotations", str(mine), "--write-probes", str(tmp_path / "probes")]) == 0
    written = read_annotations(tmp_path / "probes" / "paraphrased.jsonl", None)
    assert written.sentence[0] != official.sentence[0]
    capsys.readouterr()
    words_of_probes = ["contamination", "--annotations", str(mine), "--write-probes", str(tmp_path / "probes")]
    with lock_folder(tmp_path / "probes"):
        assert run(words_of_probes) == 2
    assert "probes: is being written by another command" in capsys.readouterr().err
    for wrong, message in (
        (["contamination", "--annotations", str(mine)], "which predictions?"),
        ([*words, "--write-probes", str(tmp_path / "more")], "expected no PREDICTIONS"),
        ([*words, "--fresh", "human-charades"], "expected DATASET/SPLIT"),
    ):
        assert run(wrong) == 2
        assert message in capsys.readouterr().err
