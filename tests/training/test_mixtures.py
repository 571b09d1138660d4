"""Mixtures of training data: shares, guard, weights, noise of collection, grids and studies."""

import dataclasses
import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.base.errors import InputError, UsageError
from truemoment.base.records import Annotations, Saliency
from truemoment.cli import run
from truemoment.data.datasets import own
from truemoment.learning.training.examples import drawn_pairs
from truemoment.learning.training.mixed_stores import MixedFeatures
from truemoment.learning.training.mixture_grid import GRIDS, MixtureRow, read_grid
from truemoment.learning.training.mixture_study import questions_of
from truemoment.learning.training.mixtures import (
    Mixture,
    MixturePart,
    in_share,
    joined_parts,
    read_mix,
    read_mixture,
    shared_films,
)
from truemoment.learning.training.recipe_sources import MixtureSource
from truemoment.learning.training.recipes import read_recipe
from truemoment.learning.training.simulated_mixtures import StudyFilms, study_sources, write_study_films
from truemoment.media.features.base import Features
from truemoment.worlds import CollectionNoise, FilmSettings, make_films


def annotations(name, n_films=6, n_sentences=5, split="train", dataset="own"):
    rows = [
        (f"{name}{film}#{k}", f"{name}{film}", 60.0, f"sentence {k} of {name} {film}", 2.0 * k, 2.0 * k + 3)
        for film in range(n_films)
        for k in range(n_sentences)
    ]
    return Annotations.from_rows(rows, dataset=dataset, split=split)


# ----------------------------------------------------------------------------------------------- shares


@given(st.floats(0.01, 1), st.floats(0.01, 1), st.integers(0, 3), st.sampled_from(["sentences", "films"]))
def test_a_smaller_share_lies_in_a_larger_one(one, other, seed, by):
    of = annotations("a")
    small, large = (set(of.queries.query_id[in_share(of, share, by, seed)]) for share in sorted((one, other)))
    assert small <= large
    assert small


def test_shares_do_not_depend_on_order_or_machine():
    of = annotations("a")
    turned = of.select_rows(np.arange(len(of))[::-1])
    kept, kept_turned = (set(one.queries.query_id[in_share(one, 0.3, "sentences", 0)]) for one in (of, turned))
    assert kept == kept_turned
    # 30 % of 30: the first 9 by blake2b("SEED\0ID").
    order = sorted(of.queries.query_id, key=lambda name: hashlib.blake2b(f"0\0{name}".encode(), digest_size=8).digest())
    assert kept == set(order[:9])
    films = of.queries.video_id[in_share(of, 0.5, "films", 0)]
    assert len(set(films)) == 3
    assert len(films) == 15  # all sentences of these films
    assert set(of.queries.query_id[in_share(of, 0.3, "sentences", 1)]) != kept


def mixture_of(tmp_path, *texts, seed=0):
    for name in ("a", "b"):
        own.write(tmp_path / f"{name}.jsonl", [annotations(name)])
    return read_mixture(read_mix([str(tmp_path / text) for text in texts]), seed, None)


def test_a_mixture_is_one_split_with_weights(tmp_path):
    found = mixture_of(tmp_path, "a.jsonl", "b.jsonl=0.2,weight=2.5")
    assert found.annotations.n_queries == 30 + 6
    assert found.annotations.split == "100 % a + 20 % b"
    assert found.annotations.query_id[0].startswith("a/")
    assert found.weights.tolist() == [1.0] * 30 + [2.5] * 6
    drawn = drawn_pairs(36, found.weights, np.random.default_rng(0))
    times = np.bincount(drawn, minlength=36)
    assert set(times[:30]) == {1}
    assert set(times[30:]) == {2, 3}
    assert len(drawn) == 30 + 15
    assert "6 of 30 sentences (20 % of sentences), drawn 2.5 times" in found.notes()[1]
    assert found.notes()[-1].startswith("words that a single source has: 1 in a, 1 in b")  # their names


def part_of(name, saliency):
    whole = dataclasses.replace(annotations(name, 1, 1), saliency=saliency)
    return MixturePart(MixtureSource(annotations=f"{name}.jsonl"), whole, 1)


def test_ratings_are_kept_where_all_sources_have_them():
    """Joined lists of rated clips are those of the sources, in their order."""
    first, second = (part_of(name, Saliency([0, 1], [clip], [[2, 4, 3]], 2.0)) for name, clip in (("a", 5), ("b", 7)))
    both = Mixture((first, second), joined_parts([first, second]), None)
    assert both.annotations.saliency.clip.tolist() == [5, 7]
    assert not any("ratings" in note for note in both.notes())
    some = [first, part_of("c", None)]
    mixed = Mixture(tuple(some), joined_parts(some), None)
    assert mixed.annotations.saliency is None
    assert mixed.notes()[-1] == "ratings of clips of a are left out: not all sources have such ratings"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mad=0", "got a share of 0 in 'mad=0', expected above 0 and up to 1"),
        ("mad=1.2", "got a share of 1.2 in 'mad=1.2', expected above 0 and up to 1"),
        ("mad=x", "got a share of x"),
        ("mad=", "expected NAME[:SPLIT]=SHARE"),
        ("mad,films", "got 'films' in 'mad,films', expected KEY=VALUE"),
        ("mad,by=words", "--mix: 'mad,by=words'"),
    ],
)
def test_a_mix_that_cannot_be_read(text, message):
    with pytest.raises(UsageError) as caught:
        read_mix([text])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("share", ["0", "1.5"])
def test_a_share_in_a_recipe_is_above_0_and_at_most_1(share):
    with pytest.raises(InputError, match=r"data"):
        read_recipe("tan2d", [f"data=[{{dataset: mad, share: {share}}}]"])
    with pytest.raises(InputError, match=r"field data\[0\]: expected dataset: NAME or annotations: FILE"):
        read_recipe("tan2d", ["data=[{share: 1}]"])


# ------------------------------------------------------------------------------------------------ guard


def test_films_shared_with_the_test_are_found_by_id_group_and_name(tmp_path):
    mixture = mixture_of(tmp_path, "a.jsonl", "b.jsonl")
    assert list(shared_films(mixture, {"test": annotations("c", split="test")})) == []
    test = Annotations.joined([annotations("c", split="test"), annotations("b", 2, split="test")])
    (line,) = shared_films(mixture, {"test": test})
    assert line == "b has 2 of the films of own/test (b0, b1)"
    groups = {"a3": "same as a3", "c1": "same as a3"}
    (line,) = shared_films(mixture, {"test": annotations("c", split="test")}, groups)
    assert line == "a has 1 of the films of own/test (c1)"
    # Specification, section 4: MAD's val and test are the films of LSMDC-G, under other ids.
    (tmp_path / "lsmdc-g.jsonl").write_bytes((tmp_path / "a.jsonl").read_bytes())
    lsmdc = read_mixture(read_mix([str(tmp_path / "lsmdc-g.jsonl")]), 0, None)
    mad = annotations("m", split="test", dataset="mad")
    assert next(shared_films(lsmdc, {"test": mad})).startswith("lsmdc-g has films of mad/test: MAD's val and test")
    assert list(shared_films(lsmdc, {"test": annotations("m", split="test")})) == []


# ---------------------------------------------------------------------------------------------- features


def test_sources_of_two_widths_are_refused():
    one, other = (
        Features({name: np.ones((4, n), dtype=np.float32)}, fps=1.0, name=name) for name, n in (("a", 3), ("b", 4))
    )
    with pytest.raises(InputError, match=r"b: found features of 4 dimensions, expected 3 as in a"):
        MixedFeatures((one, other))
    both = MixedFeatures((one, dataclasses.replace(one, by_video={"c": np.zeros((2, 3), dtype=np.float32)}, name="c")))
    assert (list(both), both["c"].shape, both.fps, "d" in both) == (["a", "c"], (2, 3), 1.0, False)


# ------------------------------------------------------------------------------------------------- noise

FILMS = make_films({"train": 2}, FilmSettings(minutes=10, n_sentences=80), np.random.default_rng(0))
NONE = CollectionNoise(0, 0, 0, 0, 0)


def collected(**changes):
    noisy = FILMS.collected(dataclasses.replace(NONE, **changes))
    return noisy, noisy.annotations("train")


def test_a_collection_without_faults_changes_nothing():
    noisy, same = collected()
    assert same.sha256 == FILMS.annotations("train").sha256
    queries = same.queries
    assert np.array_equal(noisy.vectors(queries), FILMS.vectors(queries))


def test_times_get_a_lag_and_jitter():
    true, late = FILMS.annotations("train"), collected(shift_s=0.5)[1]
    inside = late.end_s < late.duration_s - 1
    assert (late.start_s - true.start_s)[inside] == pytest.approx(0.5, abs=0.0051)  # hundredths
    error = (collected(jitter_s=0.3)[1].start_s - true.start_s)[inside]
    assert error.std() == pytest.approx(0.3, rel=0.2)
    assert abs(error.mean()) < 3 * 0.3 / np.sqrt(len(error))


def test_dialogue_joined_sentences_and_lost_words():
    true = FILMS.annotations("train")
    noisy, talk = collected(dialogue_share=0.25)
    changed = talk.queries.sentence != true.queries.sentence
    assert changed.mean() == pytest.approx(0.25, abs=0.1)
    vectors, others = (films.vectors(talk.queries) for films in (noisy, FILMS))
    cosine = (vectors * others).sum(axis=1) / np.linalg.norm(vectors, axis=1) / np.linalg.norm(others, axis=1)
    assert (cosine[~changed] > 0.9999).all()
    _, joined = collected(joined_share=0.2)
    assert joined.n_queries < true.n_queries
    assert sum(" and " in sentence for sentence in joined.queries.sentence) >= true.n_queries - joined.n_queries
    _, lost = collected(word_error=0.3)
    share = sum(len(s.split()) for s in lost.queries.sentence) / sum(len(s.split()) for s in true.queries.sentence)
    assert share == pytest.approx(0.7, abs=0.05)


def test_frames_do_not_change_and_stronger_noise_keeps_the_faults_of_weaker():
    weak, strong = (collected(dialogue_share=share) for share in (0.1, 0.3))
    name = next(iter(FILMS))
    assert np.array_equal(weak[0][name], FILMS[name])
    true = FILMS.annotations("train").queries.sentence
    assert set(np.flatnonzero(weak[1].queries.sentence != true)) <= set(
        np.flatnonzero(strong[1].queries.sentence != true)
    )
    with pytest.raises(UsageError, match=r"noise, word_error: got 2, expected 0 to 1"):
        CollectionNoise(word_error=2)


# ------------------------------------------------------------------------------------------------- grids


def test_grids_of_the_paper():
    # Table 5 has 32 and 64 %, Table 6 36 and 72 %: as many sentences as the clean set, and twice that.
    rows = read_grid("table5", study_sources(Path("films")))
    assert [row.name for row in rows] == [
        *("clean", "32 % noisy", "noisy", "clean + 32 % noisy", "clean + 64 % noisy", "clean + noisy")
    ]
    assert [of[1] for of in GRIDS["table6"]] == [0, 0.36, 1, 0.36, 0.72, 1]
    asked = [(question, row.name, other.name) for question, row, other in questions_of(rows)]
    assert asked[:4] == [
        ("equal size", "32 % noisy", "clean"),
        ("all noisy", "noisy", "32 % noisy"),
        ("scale", "noisy", "clean"),
        ("added", "clean + noisy", "clean"),
    ]
    assert [of[2] for of in asked[4:]] == ["clean", "clean + 32 % noisy", "clean + 64 % noisy"]
    assert MixtureRow((1.0, 0.32), ("a b", "c")).folder == "a_b-100+c-32"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- {clean: 1, other: 0.5}", "names the source 'other', expected one of clean, noisy, noiseless"),
        ("- {clean: 2}", "got a share of 2, expected 0 to 1"),
        ("- {clean: 0}", "uses no source"),
        ("- {clean: 1}\n- {clean: 1}", "has no row, or one twice"),
        ("clean: 1", "expected a list of shares by source"),
    ],
)
def test_a_grid_that_does_not_fit(tmp_path, text, message):
    (tmp_path / "grid.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        read_grid(str(tmp_path / "grid.yaml"), study_sources(tmp_path))
    assert message in str(caught.value)


# ------------------------------------------------------------------------------------------------- study


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    """Give films of a tiny study."""
    folder = tmp_path_factory.mktemp("study") / "films"
    settings = FilmSettings(minutes=1, n_sentences=8, n_dimensions=16, nearness=0.3)
    write_study_films(folder, StudyFilms(n_clean=3, n_val=2, n_test=3, settings=settings))
    return folder


TINY = ("train.epochs=1", "settings.hidden=8", "settings.n_clips=8", "rows=8", "text.size=8")


def words(films, out, *more, recipe="tan2d-mixtures", tiny=TINY):
    sources = [
        word for split in ("clean", "noisy") for word in ("--mix", f"{films}/annotations.jsonl:{split},name={split}")
    ]
    changes = [word for change in tiny for word in ("--set", change)]
    data = ["--annotations", films / "annotations.jsonl", "--features", films / "features.npz", "--threads", 1]
    given = ["mixtures", recipe, *sources, *data, *changes, "-o", out, "--seeds", 1, "--quiet", *more]
    return [str(word) for word in given]


def test_a_study_is_resumed_and_states_its_rows(films, tmp_path, capsys):
    out = tmp_path / "mix"
    (tmp_path / "grid.yaml").write_text("- {clean: 1}\n- {noisy: 0.5}\n- {clean: 1, noisy: 1}\n")
    more = ("--grid", tmp_path / "grid.yaml", "--json", "-", "--measures", "R@5,IoU=0.3")
    assert run(words(films, out, *more)) == 0
    first = json.loads(capsys.readouterr().out)
    rows = first["splits"]["test"]["rows"]
    assert [row["name"] for row in rows] == ["clean", "50 % noisy", "clean + noisy"]
    assert rows[2]["n_sentences"] > rows[0]["n_sentences"]
    assert [of["question"] for of in first["splits"]["test"]["differences"]] == ["equal size", "added"]
    stamp = (out / "runs" / "clean-100" / "seed-0" / "result.json").stat().st_mtime_ns
    assert run(words(films, out, *more)) == 0
    assert json.loads(capsys.readouterr().out) == first
    assert (out / "runs" / "clean-100" / "seed-0" / "result.json").stat().st_mtime_ns == stamp


def test_equal_steps_give_small_rows_more_epochs(films, tmp_path, capsys):
    (tmp_path / "grid.yaml").write_text("- {clean: 1}\n- {clean: 1, noisy: 1}\n")
    tiny = (*TINY, "train.epochs=2", "steps=equal")
    assert run(words(films, tmp_path / "mix", "--grid", tmp_path / "grid.yaml", "--json", "-", tiny=tiny)) == 0
    small, large = json.loads(capsys.readouterr().out)["splits"]["test"]["rows"]
    assert small["n_steps"] == pytest.approx(large["n_steps"], rel=0.25)


def test_clips_are_retrieved_in_a_study(films, tmp_path, capsys):
    (tmp_path / "grid.yaml").write_text("- {clean: 1}\n- {noisy: 1}\n")
    more = ("--grid", tmp_path / "grid.yaml", "--json", "-", "--sentences", films / "sentences.npz")
    tiny = ("train.epochs=1", "train.batch=8", "settings.scale=20")
    assert run(words(films, tmp_path / "mix", *more, recipe="mean-pool", tiny=tiny)) == 0
    found = json.loads(capsys.readouterr().out)["splits"]["test"]
    assert found["differences"][0]["measure"] == "t2c:R@1"
    assert set(found["rows"][0]["values"]) >= {"t2c:R@1", "c2t:R@10", "t2c:MdR"}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--grid", "study"), "--grid study: mixes 3 sources, but the recipe states 2"),
        (("--grid", "nowhere"), "--grid: unknown 'nowhere', expected table5, table6, study, or a file"),
        (("--simulated",), "--simulated: has films of its own"),
        (("--test", "clean"), "data: clean has 3 of the films of"),
    ],
)
def test_bad_input_is_one_line(films, tmp_path, capsys, more, message):
    assert run(words(films, tmp_path / "mix", *more)) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err


def test_force_marks_every_figure(films, tmp_path, capsys):
    (tmp_path / "grid.yaml").write_text("- {clean: 1}\n")
    more = ("--grid", tmp_path / "grid.yaml", "--test", "clean", "--force", "--json", "-")
    assert run(words(films, tmp_path / "mix", *more)) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert any("by force: clean has 3 of the films" in note for note in notes)
    result = json.loads((tmp_path / "mix/runs/clean-100/seed-0/result.json").read_text())
    assert all("by force: clean has 3 of the films" in row["notes"] for row in result["figures"])


def test_groups_of_a_collection_are_read_beside_its_annotations(films, tmp_path, capsys):
    # splits.jsonl of a collection names the group of films that are one film (truemoment.collection.layout).
    folder = tmp_path / "collection"
    shutil.copytree(films, folder)
    lines = [json.loads(line) for line in (folder / "annotations.jsonl").read_text().splitlines()]
    of_split = {
        split: next(line["video_id"] for line in lines if line["split"] == split) for split in ("clean", "test")
    }
    groups = [
        {"video_id": name, "split": split, "group": "same as x", "n_sentences": 8} for split, name in of_split.items()
    ]
    (folder / "collection.json").write_text("{}")
    (folder / "splits.jsonl").write_text("".join(json.dumps(line) + "\n" for line in groups))
    assert run(words(folder, tmp_path / "mix", "--grid", "table5")) == 2
    assert f"clean has 1 of the films of annotations.jsonl/test ({of_split['test']})" in capsys.readouterr().err
