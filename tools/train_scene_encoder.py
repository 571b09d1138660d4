"""Train the small built-in encoder: python tools/train_scene_encoder.py [FOLDER] [field=value ...].

It writes src/truemoment/media/video/scenes/ (or FOLDER): weights, words, and a README.md with the recipe and the
accuracy on scenes that it has not learned from. The recipe is SceneRecipe of scene_encoder.py beside this file; a field
can be changed by its name, e.g. steps=50 for a trial. The published weights took twenty minutes on one
core.
"""

import dataclasses
import sys
import time
from pathlib import Path

import numpy as np
import torch
from scene_encoder import SceneRecipe, accuracy, draw_groups, train, write_encoder
from tqdm import tqdm

from truemoment.learning.training.hardware import commit, hardware
from truemoment.media.video.encoders import load_encoder

FOLDER = Path(__file__).parent.parent / "src" / "truemoment" / "media" / "video" / "scenes"
HELD_OUT_SEED = 1_000_003
"""Of the scenes that accuracy is measured on; a recipe's own scenes are drawn with the recipe's seed."""

N_HELD_OUT = 250

CARD = """# scenes

The encoder that comes along with TrueMoment: a CLIP model in the form of transformers, so small that it knows nothing
but rendered scenes (`truemoment.worlds.scenes`): {n_weights:,} numbers. It makes `truemoment demo --search` and the
tests mean something without a download. **It knows no photographs**: for your own videos take a CLIP or SigLIP model.

It was trained from nothing on drawn scenes, with no picture and no text of anybody else, by

    python tools/train_scene_encoder.py

Its licence is TrueMoment's, MIT.

## What it can and cannot do

It was taught eight shapes, eight colours, two sizes, six grounds, and who is above, below, left or right of whom; how
well it tells them apart stands below. It sees one picture at a time, so it cannot tell which way something moves: words
like "drifts" and "rests" change little.

Accuracy on {n_scenes} scenes that it has not learned from, in groups of four that differ in one respect. A sentence
says all of two things (or of the only one) and the ground:

| the best scene for a sentence is one it is true of | share | by chance |
|---|---|---|
| among all {n_scenes} scenes | {first:.3f} | {chance_first:.3f} |
| among the four of its group | {group:.3f} | {chance_group:.3f} |

## How it was made

{recipe}

{minutes:.0f} minutes on {hardware}, commit {commit}. Training again on another machine gives a model as good, though
not the same last digits.
"""


def main(folder: Path, changes: list[str]) -> None:
    """Draw scenes, train, measure, write."""
    values = dict(change.split("=", 1) for change in changes)
    kinds = {field.name: type(getattr(SceneRecipe(), field.name)) for field in dataclasses.fields(SceneRecipe)}
    recipe = SceneRecipe(**{name: kinds[name](value) for name, value in values.items()})
    started = time.monotonic()
    drawn = draw_groups(np.random.default_rng(recipe.seed), recipe.n_groups, recipe.group, told=tqdm)
    held_out = draw_groups(np.random.default_rng(HELD_OUT_SEED), N_HELD_OUT, recipe.group)
    with tqdm(total=recipe.steps) as bar:

        def watch(_: int, losses: dict[str, float]) -> None:
            bar.set_postfix(losses, refresh=False)
            bar.update()

        model, tokenizer = train(recipe, drawn, watch=watch)
    write_encoder(folder, model, tokenizer)
    encoder = load_encoder(str(folder), device="cpu")  # what is measured is what was written
    figures = accuracy(encoder, held_out, np.random.default_rng(HELD_OUT_SEED), group=recipe.group)
    about = CARD.format(
        n_weights=sum(weights.numel() for weights in model.parameters()),
        n_scenes=len(held_out.scenes),
        recipe="\n".join(f"    {name} = {value}" for name, value in dataclasses.asdict(recipe).items()),
        minutes=(time.monotonic() - started) / 60,
        hardware=hardware(),
        commit=commit() or "unknown",
        **figures,
    )
    (folder / "README.md").write_text(about, encoding="utf-8")
    tqdm.write(f"{folder} {figures}")


if __name__ == "__main__":
    torch.set_num_threads(1)  # of so small a model two threads wait for each other
    given = [word for word in sys.argv[1:] if "=" not in word]
    main(Path(given[0]) if given else FOLDER, [word for word in sys.argv[1:] if "=" in word])
