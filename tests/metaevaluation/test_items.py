"""The item-response model: what it recovers from simulated hits, and what it cannot know."""

import json

import numpy as np
import pytest

from truemoment import Annotations, Predictions
from truemoment.base.errors import UsageError
from truemoment.cli import run
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measures
from truemoment.studies.meta.items import chances, fit_items, items
from truemoment.studies.meta.systems import Systems
from truemoment.worlds import make_world, write_world

(R1,) = parse_measures("R@1,IoU=0.5")


def simulated(rng, *, n_systems=12, n_videos=400, within=1.2, between=0.8, guess=0.0):
    """Hits (S, Q), videos, and the truth: abilities, difficulties, guessabilities; four queries a video."""
    video = np.repeat(np.arange(n_videos), 4)
    difficulty = rng.normal(0, within, len(video)) + rng.normal(0, between, n_videos)[video]
    ability = np.linspace(-1.5, 1.5, n_systems)
    guessability = rng.uniform(0, 2 * guess, len(video))
    chance = guessability + (1 - guessability) / (1 + np.exp(difficulty - ability[:, None]))
    return (rng.random(chance.shape) < chance).astype(float), video, ability, difficulty, guessability


@pytest.mark.parametrize("guess", [0.0, 0.25])
def test_recovers_what_was_simulated(guess):
    rng = np.random.default_rng(3)
    hits, video, ability, difficulty, guessability = simulated(rng, guess=guess)
    model = fit_items(hits, video, guessability)
    assert model.variance_within == pytest.approx(1.2**2, rel=0.2)
    assert model.variance_between == pytest.approx(0.8**2, rel=0.3)
    z = (model.ability - ability) / model.ability_error
    assert np.abs(z).max() < 3.5  # twelve deviates
    inside = np.abs(model.difficulty - difficulty) < 1.96 * model.difficulty_sd
    assert inside.mean() == pytest.approx(0.95, abs=0.02)
    correlation = np.corrcoef(model.difficulty, difficulty)[0, 1]
    limit = np.sqrt(1 - (model.difficulty_sd**2).mean() / difficulty.var())  # what the posterior itself promises
    assert correlation == pytest.approx(limit, abs=0.03)
    assert correlation > np.corrcoef(-hits.mean(axis=0), difficulty)[0, 1]


def test_standard_errors_are_those_of_repeated_splits():
    found = []
    for seed in range(15):
        hits, video, *_ = simulated(np.random.default_rng([4, seed]), n_systems=4, n_videos=80)
        model = fit_items(hits, video)
        found.append((model.ability, model.ability_error))
    abilities, errors = map(np.array, zip(*found, strict=True))
    assert errors.mean(axis=0) == pytest.approx(abilities.std(axis=0, ddof=1), rel=0.4)


def test_queries_of_a_video_that_fail_together_share_their_difficulty():
    rng = np.random.default_rng(5)
    video = np.repeat(np.arange(200), 4)
    shared = rng.normal(0, 1.5, 200)[video]
    hits = (rng.random((8, 800)) < 1 / (1 + np.exp(shared))).astype(float)
    model = fit_items(hits, video)
    assert model.variance_between / (model.variance_between + model.variance_within) > 0.9


def test_what_does_not_count_is_left_out():
    hits, video, *_ = simulated(np.random.default_rng(6), n_videos=100)
    hits[:, :40] = np.nan
    model = fit_items(hits, video)
    assert model.difficulty[:40] == pytest.approx(np.zeros(40), abs=0.05)  # nothing is known: the average query
    assert (model.difficulty_sd[:40] > model.difficulty_sd[40:].max()).all()


def test_a_system_that_hits_all_has_no_ability():
    hits, video, *_ = simulated(np.random.default_rng(7), n_systems=5, n_videos=60)
    model = fit_items(np.vstack([hits, np.ones((1, hits.shape[1]))]), video)
    assert np.isnan(model.ability[-1])
    assert np.isfinite(model.ability[:-1]).all()


def systems_of(hits, video, names, measures="R@1,IoU=0.5"):
    """Systems whose first answer has an IoU of the value of `hits` with the reference."""
    rows = [(f"q{at}", f"v{name}", 30.0, "a door opens", 0.0, 10.0) for at, name in enumerate(video)]
    annotations = Annotations.from_rows(rows)
    return Systems(
        {
            name: evaluate(
                annotations,
                Predictions.from_lists({f"q{at}": [(0.0, 10.0 * hit)] for at, hit in enumerate(row)}),
                measures,
            )
            for name, row in zip(names, hits, strict=True)
        }
    )


def test_guessability_comes_from_the_blind_systems():
    rng = np.random.default_rng(8)
    hits, video, *_ = simulated(rng, n_systems=4, n_videos=100)
    easy = np.arange(len(video)) % 2 == 0
    blind = (rng.random((6, len(video))) < np.where(easy, 0.7, 0.1)).astype(float)
    names = ["a", "b", "c", "d", *"uvwxyz"]
    found = items(systems_of(np.vstack([hits, blind]), video, names), parse_measures("R@1,IoU=0.5")[0], "uvwxyz")
    assert found.seeing == ("a", "b", "c", "d")
    assert found.guessability.mean() == pytest.approx(blind.mean(), abs=0.02)
    assert found.guessability[easy].mean() > 0.6
    assert found.guessability[~easy].mean() < 0.2
    assert chances(fit_items(blind, video)) == pytest.approx(found.guessability)


def test_a_system_twice_says_nothing_new():
    hits, video, *_ = simulated(np.random.default_rng(9), n_systems=4, n_videos=100)
    once = items(systems_of(hits, video, "abcd"), R1)
    twice = items(systems_of(hits[[0, 1, 2, 3, 0]], video, "abcde"), R1)
    assert twice.model.difficulty == pytest.approx(once.model.difficulty)
    assert twice.model.ability[4] == twice.model.ability[0]


def test_only_hits_and_several_systems():
    video = np.arange(4)
    halves = systems_of(np.full((2, 4), 0.5), video, "ab", "mIoU")
    with pytest.raises(UsageError, match=r"mIoU is 0\.5 on query 'q0', expected a measure that is 0 or 1"):
        items(halves, halves.measures[0])
    both = systems_of(np.eye(2, 4), video, "ab")
    with pytest.raises(UsageError, match="got 1 system besides the blind ones"):
        items(both, both.measures[0], ["b"])


@pytest.mark.usefixtures("quick_networks", "undrawn")
def test_the_command(tmp_path, capsys):
    write_world(make_world(40, location_prior=0.4, query_prior=0.5, seed=0), tmp_path)
    words = ["meta", "items", "--population", "--baselines", "--annotations", str(tmp_path / "annotations.jsonl")]
    words += ["--split", "test-iid"]
    words += ["--measures", "R@1,IoU=0.5", "--json", str(tmp_path / "i.json"), "--html", str(tmp_path / "i.html")]
    assert run([*words, "--blind", "blind", "--quiet"]) == 0
    (study,) = json.loads((tmp_path / "i.json").read_text())["studies"].values()
    assert len(study["queries"]) > 10
    assert "blind" in study["blind"]
    assert all(0 <= query["guessability"] <= 1 for query in study["queries"])
    capsys.readouterr()
    assert run([*words, "--blind", "ranked"]) == 2
    assert "--blind: got 'ranked'" in capsys.readouterr().err
