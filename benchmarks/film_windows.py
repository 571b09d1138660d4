"""Films answered window by window: each window encoded once, and a first look at windows.

Encoded once: 64 sentences on one simulated film, each window encoded once and fused with every sentence, against the
same network that encodes each window again for every sentence (as it was before). Both rank all candidates of all
windows together. Seconds are of the processor, the median of three runs in turns; weights are drawn at random.

First look: a sentence asks only the K windows with the frame most like it. On films of MAD's length at MAD's nearness
the share of references in these windows needs no model. `--trained` also trains 2D-TAN small on shorter films, and
prints its recall and time for each K.

Run: OMP_NUM_THREADS=1 python benchmarks/film_windows.py [--trained]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import msgspec
import numpy as np
import torch

from truemoment.base.records import Predictions
from truemoment.data.datasets import load_annotations
from truemoment.evaluation.evaluate import evaluate
from truemoment.learning.models import get_family
from truemoment.learning.models.base import Inputs
from truemoment.learning.training.grounding import TrainedGrounder
from truemoment.learning.training.network import Network
from truemoment.learning.training.performing import perform
from truemoment.learning.training.recipes import Recipe, Windowing, read_recipe
from truemoment.learning.training.run import Run
from truemoment.learning.training.vocabulary import make_vocabulary
from truemoment.learning.training.windows import AllCandidates, in_windows
from truemoment.media.features.sentences import SentenceFile, SentenceVectors
from truemoment.searching.first_look import FirstLook, summarise_first_look
from truemoment.searching.opening import open_features
from truemoment.searching.windows import Windows
from truemoment.worlds.films import FilmSettings, make_films, write_films

N_SENTENCES, MINUTES, RUNS = 64, 30.0, 3
LOOKS = (10, 20, 50, 100, 200, None)
MEASURES = "R@1,IoU=0.1; R@5,IoU=0.3; R@100,IoU=0.5"


class EncodedAgain(AllCandidates):
    """The same method without branches: each window is encoded for every sentence."""

    def window_scorer(self) -> None:
        """Return nothing."""


def windowing(recipe: Recipe) -> Windowing:
    """Return a recipe's block `windows`."""
    assert recipe.windows is not msgspec.UNSET  # noqa: S101 - all recipes here have one
    return recipe.windows


def encoded_once(recipe_name: str) -> None:
    """Print the time of both ways and how far they differ."""
    films = make_films({"test": 1}, FilmSettings(minutes=MINUTES, n_sentences=100), np.random.default_rng(0))
    recipe, queries = read_recipe(recipe_name), films.annotations("test").queries.first(N_SENTENCES)
    vocabulary = make_vocabulary(recipe.text, films.annotations("test").queries.sentence, [], None, seed=0)
    family = get_family(recipe.model)
    torch.manual_seed(0)
    inputs = Inputs(films.n_dimensions, recipe.text.size, vocabulary.words)
    model = family.build(msgspec.convert(recipe.settings, family.settings), inputs)
    network = Network(vocabulary, recipe.text.size, model)
    answers: dict[str, Predictions] = {}
    spent: dict[str, list[float]] = {"once": [], "again": []}
    for _ in range(RUNS):
        for name, kind in (("again", EncodedAgain), ("once", AllCandidates)):
            method = in_windows(kind(name, network, vocabulary, recipe, films), windowing(recipe))
            began = time.process_time()
            answers[name] = method.ground(queries, 100)
            spent[name].append(time.process_time() - began)
    once, again = (float(np.median(spent[name])) for name in ("once", "again"))
    n_windows = len(Windows().rows_of(len(films[next(iter(films))]), films.fps)[0])
    differ = float(np.abs(answers["once"].score - answers["again"].score).max())
    print(
        f"{recipe_name}: {len(queries)} sentences, {n_windows} windows of {model.n_candidates} candidates: encoded "
        f"once {once:.1f} s, again for each sentence {again:.1f} s: {again / once:.2f} times; "
        f"scores differ by {differ:.0e}",
        flush=True,
    )


def shares() -> None:
    """Print the share of references in the K windows, on films of MAD's length at its nearness and nearer ones."""
    for nearness in (0.09, 0.15, 0.3):
        films = make_films({"test": 4}, FilmSettings(nearness=nearness), np.random.default_rng(1))
        test = films.annotations("test")
        vectors = SentenceVectors(dict(zip(test.queries.query_id, films.vectors(test.queries), strict=True)))
        for most in LOOKS:
            look = summarise_first_look(
                test, Windows(), films, None if most is None else FirstLook(most, films, vectors)
            )
            name = look.name if most else f"all {look.fewest} to {look.largest}"
            print(
                f"nearness {nearness}: {name}: {100 * look.share:.1f} % of {len(test.queries):,} references", flush=True
            )


def trained() -> None:
    """Train 2D-TAN small on simulated films, and print recall and time for each K."""
    with tempfile.TemporaryDirectory() as folder:
        settings = FilmSettings(minutes=20, n_sentences=110, nearness=0.15)
        made = make_films({"train": 24, "val": 1, "test": 3}, settings, np.random.default_rng(2))
        data = write_films(folder, made)
        frames = data / "CLIP_B32_frames_features_5fps.h5"
        train, val, test = (load_annotations("mad", split, data_dir=Path(folder)) for split in ("train", "val", "test"))
        store = open_features(frames, test, data_dir=Path(folder), fps=5.0)
        recipe = read_recipe("tan2d-windows", ["train.epochs=8"])
        run = Run(recipe=recipe, seed=0, train=train, val=val, features=str(frames), store=store)
        perform(run, Path(folder) / "run")
        method = TrainedGrounder.load(Path(folder) / "run", store=store)
        sentences = SentenceFile(data / "CLIP_B32_language_features_MAD_test.h5")
        for most in (5, *LOOKS):
            ranking = None if most is None else FirstLook(most, store, sentences)
            look = summarise_first_look(test, Windows(), store, ranking)
            kind = AllCandidates(method.name, method.network, method.vocabulary, recipe, store)
            began = time.process_time()
            found = in_windows(kind, windowing(recipe), ranking=ranking).ground(test.queries, 100)
            spent = time.process_time() - began
            scores = evaluate(test, found, MEASURES, "mad-vlgnet")
            told = ", ".join(f"{measure} {100 * scores.value(measure):.1f}" for measure in MEASURES.split("; "))
            name = look.name if most else f"all {look.fewest} to {look.largest}"
            print(f"2D-TAN small, {name}: references {100 * look.share:.1f} %; {told}; {spent:.0f} s", flush=True)


def main() -> None:
    """Print times, differences, shares and recall."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--trained", action="store_true")
    torch.set_num_threads(1)
    asked = arguments.parse_args()
    for recipe in ("tan2d-windows", "vlg-net-mad"):
        encoded_once(recipe)
    shares()
    if asked.trained:
        trained()


if __name__ == "__main__":
    main()
