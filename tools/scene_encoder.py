"""Training of the small built-in encoder: a CLIP model that knows rendered scenes. See train_scene_encoder.py.

Scenes and sentences are drawn (:mod:`truemoment.worlds.descriptions`), so that what is true of what is known exactly.
A batch holds groups of scenes that differ in one respect, since it is these that a model confuses: whose colour is
whose, and who is above whom. With logits s_ij = scale * cosine(image i, sentence j), each pair (i, j) of which the
sentence is true adds

    log(1 + sum over false k of exp(s_ik - s_ij))

and the same with images and sentences exchanged: a true sentence must score above every false one, whatever other true
ones do (InfoNCE, Radford et al. 2021, with several positives that do not compete). Beside it, linear layers that are
thrown away afterwards must tell what each patch and each picture shows (:class:`Teacher`); that is what makes minutes
on two cores enough.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn import functional

from truemoment.base.boundary.files import atomic_write
from truemoment.base.intervals import Bools, Ints
from truemoment.media.video.encoders import KNOWN_WORDS, PLAIN_SENTENCES, Encoder, Preparation
from truemoment.media.video.frames import Pixels
from truemoment.worlds.descriptions import (
    ANY,
    ASPECT,
    COLOUR_WORDS,
    COLOURS,
    GROUND_WORDS,
    GROUNDS,
    MOVING,
    RELATION_WORDS,
    SHAPE_WORDS,
    SHAPES,
    SIZE_WORDS,
    STILL,
    Description,
    Noun,
    Scene,
    SceneCodes,
    codes_of,
    describe,
    draw_scene,
    in_words,
    swapped,
    truth,
)
from truemoment.worlds.scenes import draw_picture

if TYPE_CHECKING:
    from transformers import CLIPModel, CLIPTokenizer

START, END = "<|startoftext|>", "<|endoftext|>"

PREPARATION = Preparation(48, 48, None, (0.5, 0.5, 0.5), (0.25, 0.25, 0.25))
"""How the model's pictures are made ready."""

OTHER_WORDS = ("a", "an", "the", "there", "is", "we", "see", "here", "thing", "shape", "object")


@dataclass(frozen=True)
class SceneRecipe:
    """What the encoder is and how it learns.

    Parameters
    ----------
    n_groups
        How many groups of scenes are drawn.
    group
        Scenes a group: one, and others that differ from one before in one respect.
    steps
        Batches it learns from.
    batch
        Groups a batch.
    learning_rate
        The highest, after a short rise; it falls to 0 along a cosine.
    teaching
        Weight of the teacher's losses beside those of sentences; it falls to 0 evenly.
    width, image_layers, text_layers, heads, patch, n_dimensions, n_words
        Of the model.
    seed
        Of all draws.
    """

    n_groups: int = 4000
    group: int = 4
    steps: int = 5200
    batch: int = 16
    learning_rate: float = 2e-3
    teaching: float = 1.0
    width: int = 96
    image_layers: int = 4
    text_layers: int = 2
    heads: int = 4
    patch: int = 8
    n_dimensions: int = 96
    n_words: int = 32
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Drawn:
    """Scenes and their pictures.

    Parameters
    ----------
    scenes : S of them
    pixels : (S, h, w, 3)
        As the model takes them, before colours are scaled.
    codes
        The scenes as numbers.
    shares : S of them
        How much of each scene's time is over.
    """

    scenes: Sequence[Scene]
    pixels: Pixels
    codes: SceneCodes
    shares: Sequence[float]


def draw_groups(
    rng: np.random.Generator, n_groups: int, group: int, *, told: Callable[[range], Iterable[int]] = iter
) -> Drawn:
    """Draw groups of scenes that differ in one respect, and their pictures.

    Parameters
    ----------
    rng
        Draws everything.
    n_groups, group
        How many groups, and scenes a group.
    told
        Goes through the groups and shows how far it is, e.g. a progress bar.
    """
    scenes: list[Scene] = []
    for _ in range(n_groups):
        members = [draw_scene(rng)]
        while len(members) < group:
            members.append(swapped(rng, members[int(rng.integers(len(members)))]))
        scenes += members
    shares = rng.random(len(scenes)).tolist()
    pixels = np.zeros((len(scenes), PREPARATION.height, PREPARATION.width, 3), np.uint8)
    for row in told(range(len(scenes))):
        pixels[row] = PREPARATION(draw_picture(scenes[row], shares[row]))
    return Drawn(scenes, pixels, codes_of(scenes, shares), shares)


LARGEST_SCALE = math.log(100)
"""Of the logarithm of the logits' scale, as CLIP bounds it."""

MIRRORED = {RELATION_WORDS.index(words): number for number, words in enumerate(RELATION_WORDS)} | {2: 3, 3: 2}
"""Which relation each becomes in a mirror."""


def mirrored(description: Description) -> Description:
    """Return what is true of a scene in a mirror where `description` is true of the scene."""
    return replace(description, relation=MIRRORED.get(description.relation, description.relation))


def known_words() -> list[str]:
    """Return the words that sentences are made of, by the alphabet."""
    said = [*SHAPE_WORDS.values(), *COLOUR_WORDS.values(), *SIZE_WORDS, *RELATION_WORDS, *GROUND_WORDS.values()]
    return sorted(
        {word for phrases in (*said, MOVING, STILL, OTHER_WORDS) for text in phrases for word in text.split()}
    )


def tokenizer_of(n_words: int) -> CLIPTokenizer:
    """Make the tokenizer: each word that sentences are made of is one token, any other falls into letters."""
    from tokenizers import pre_tokenizers
    from transformers import CLIPTokenizer

    merges: Any = merges_of(known_words())
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = [*letters, *(letter + "</w>" for letter in letters), *("".join(pair) for pair in merges), START, END]
    vocabulary = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    return CLIPTokenizer(vocab=vocabulary, merges=merges, model_max_length=n_words)


def merges_of(words: Sequence[str]) -> list[tuple[str, str]]:
    """Learn pairs to merge until each word is one token (byte pair encoding, Sennrich et al. 2016).

    The most frequent pair of neighbours is merged, the first by the alphabet of those that tie: the library's trainer
    leaves ties to the order of a hash table, and no two models would be alike.

    Examples
    --------
    >>> merges_of(["on", "one"])
    [('n', 'e</w>'), ('o', 'n</w>'), ('o', 'ne</w>')]
    """
    parts = [[*word[:-1], f"{word[-1]}</w>"] for word in words]
    merges: list[tuple[str, str]] = []
    while count := Counter(pair for part in parts for pair in itertools.pairwise(part)):
        merges.append(min(count, key=lambda pair: (-count[pair], pair)))
        parts = [_merged(part, merges[-1]) for part in parts]
    return merges


def _merged(part: Sequence[str], pair: tuple[str, str]) -> list[str]:
    """Merge a pair wherever it stands, from the left."""
    merged: list[str] = []
    at = 0
    while at < len(part):
        step = 2 if tuple(part[at : at + 2]) == pair else 1
        merged.append("".join(part[at : at + step]))
        at += step
    return merged


def model_of(recipe: SceneRecipe, tokenizer: CLIPTokenizer) -> CLIPModel:
    """Make the model with weights drawn anew."""
    from transformers import CLIPConfig, CLIPModel

    tower = {
        "hidden_size": recipe.width,
        "intermediate_size": 2 * recipe.width,
        "num_attention_heads": recipe.heads,
        "projection_dim": recipe.n_dimensions,
    }
    special = {
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    model = CLIPModel(
        CLIPConfig(
            text_config={
                **tower,
                **special,
                "num_hidden_layers": recipe.text_layers,
                "vocab_size": len(tokenizer),
                "max_position_embeddings": recipe.n_words,
            },
            vision_config={
                **tower,
                "num_hidden_layers": recipe.image_layers,
                "image_size": PREPARATION.height,
                "patch_size": recipe.patch,
            },
            projection_dim=recipe.n_dimensions,
        )
    )
    places = _waves(PREPARATION.height // recipe.patch, recipe.width)
    with torch.no_grad():
        model.vision_model.embeddings.position_embedding.weight[1:] = 0.3 * places
    return model


def _waves(n_side: int, width: int) -> Tensor:
    """Return sines and cosines of each patch's place, (patches, width), so that neighbours start out alike."""
    down, right = np.divmod(np.arange(n_side * n_side), n_side)
    frequency = 20.0 ** -(np.arange(width // 4) / (width // 4))
    angles = [np.outer(of, frequency) for of in (right, down)]
    return torch.from_numpy(np.concatenate([wave(of) for of in angles for wave in (np.sin, np.cos)], 1)).float()


def patch_labels(drawn: Drawn, rows: Ints, flipped: Bools, n_side: int) -> tuple[Tensor, Tensor]:
    """Tell what each patch of some pictures shows, shape and colour as numbers from 1, 0 for the ground, (B, P) each.

    A patch shows a thing if its middle lies within nine tenths of the thing's radius.
    """
    middles = (np.arange(n_side) + 0.5) / n_side
    x, y = np.meshgrid(middles * ASPECT, middles)
    shape, colour = (np.zeros((len(rows), n_side, n_side), np.int64) for _ in range(2))
    for at, (row, mirror) in enumerate(zip(rows.tolist(), flipped.tolist(), strict=True)):
        for thing in drawn.scenes[row].things:
            right, down = thing.place(drawn.shares[row])
            within = np.hypot(x - (ASPECT - right if mirror else right), y - down) < 0.9 * thing.radius
            shape[at][within] = 1 + SHAPES.index(thing.shape)
            colour[at][within] = 1 + COLOURS.index(thing.colour)
    return torch.from_numpy(shape.reshape(len(rows), -1)), torch.from_numpy(colour.reshape(len(rows), -1))


def loss_of_pairs(logits: Tensor, true: Tensor) -> Tensor:
    """Return the mean over true pairs of log(1 + sum of exp(false logit - true logit)), along each row (B, S)."""
    false = torch.logsumexp(logits.masked_fill(true, -torch.inf), dim=1, keepdim=True)
    return functional.softplus(false - logits)[true].mean()


def prepared(pixels: Pixels, rng: np.random.Generator | None = None) -> Tensor:
    """Scale the colours of pictures (B, h, w, 3) as the model takes them, (B, 3, h, w).

    Given `rng`, the light of each picture varies, and there is noise.
    """
    colours = torch.from_numpy(np.ascontiguousarray(pixels.transpose(0, 3, 1, 2))).float() / 255
    if rng is not None:
        light = torch.from_numpy(rng.uniform(0.85, 1.1, (len(pixels), 1, 1, 1)).astype(np.float32))
        noise = torch.from_numpy(rng.standard_normal(colours.shape, dtype=np.float32))
        colours = (colours * light + 0.02 * noise).clamp(0, 1)
    return (colours - PREPARATION.mean[0]) / PREPARATION.std[0]


def train(
    recipe: SceneRecipe,
    drawn: Drawn,
    *,
    watch: Callable[[int, dict[str, float]], None] | None = None,
) -> tuple[CLIPModel, CLIPTokenizer]:
    """Train the encoder.

    Parameters
    ----------
    recipe
        What it is and how it learns.
    drawn
        The scenes it learns from, in groups of ``recipe.group``.
    watch
        Is told each step's number and losses.
    """
    torch.manual_seed(recipe.seed)
    rng = np.random.default_rng([recipe.seed, 1])
    tokenizer = tokenizer_of(recipe.n_words)
    model = model_of(recipe, tokenizer).train()
    teacher = Teacher(recipe)
    parameters = [*model.parameters(), *teacher.parameters()]
    optimiser = torch.optim.AdamW(parameters, lr=recipe.learning_rate, betas=(0.9, 0.98), weight_decay=0.02)
    rise = max(1, recipe.steps // 20)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser,
        lambda step: min(1.0, (step + 1) / rise) * 0.5 * (1 + math.cos(math.pi * min(1.0, step / recipe.steps))),
    )
    for step, batch in enumerate(batches(rng, recipe, drawn)):
        tokens = tokenizer(batch.sentences, padding="longest", return_tensors="pt")
        images = model.vision_model(pixel_values=batch.pictures, output_hidden_states=True)
        image = functional.normalize(model.visual_projection(images.pooler_output), dim=-1)
        texts = model.text_model(input_ids=tokens["input_ids"], attention_mask=tokens["attention_mask"])
        text = functional.normalize(model.text_projection(texts.pooler_output), dim=-1)
        logits = model.logit_scale.clamp(max=LARGEST_SCALE).exp() * image @ text.T
        pairs = (loss_of_pairs(logits, batch.true) + loss_of_pairs(logits.T, batch.true.T)) / 2
        taught = teacher(images.hidden_states[recipe.image_layers // 2][:, 1:], images.pooler_output, batch)
        loss = pairs + recipe.teaching * (1 - step / recipe.steps) * taught
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        schedule.step()
        if watch is not None:
            watch(step, {"pairs": pairs.item(), "taught": taught.item()})
    return model.eval(), tokenizer


class Teacher(nn.Module):
    """Linear layers that are thrown away after training; they tell what each patch shows, and the whole picture.

    Sentences alone teach little at first, since all of a picture must be understood before one of them is understood.
    """

    def __init__(self, recipe: SceneRecipe) -> None:
        super().__init__()
        self.patch_shape = nn.Linear(recipe.width, 1 + len(SHAPES))
        self.patch_colour = nn.Linear(recipe.width, 1 + len(COLOURS))
        self.things = nn.Linear(recipe.width, len(SHAPES) * len(COLOURS))
        self.shapes = nn.Linear(recipe.width, len(SHAPES))
        self.colours = nn.Linear(recipe.width, len(COLOURS))
        self.ground = nn.Linear(recipe.width, len(GROUNDS))
        self.places = nn.Linear(recipe.width, 2 * (len(SHAPES) + len(COLOURS)))

    def forward(self, patches: Tensor, whole: Tensor, batch: SceneBatch) -> Tensor:
        """Return the sum of their losses, of patches (B, P, width) half way up and of whole pictures (B, width)."""
        weight = torch.ones(1 + len(SHAPES))
        weight[0] = 0.2  # most patches show the ground
        there = batch.things.reshape(-1, len(SHAPES), len(COLOURS))
        told = [
            functional.cross_entropy(head(patches).transpose(1, 2), of, weight)
            for head, of in ((self.patch_shape, batch.shape), (self.patch_colour, batch.colour))
        ]
        told += [
            functional.binary_cross_entropy_with_logits(head(whole), of, pos_weight=torch.tensor(more))
            for head, of, more in (
                (self.things, batch.things, 20.0),  # few of the 64 are there
                (self.shapes, there.amax(2), 4.0),
                (self.colours, there.amax(1), 4.0),
            )
        ]
        told.append(functional.cross_entropy(self.ground(whole), batch.ground))
        known = ~batch.places.isnan()
        off = (self.places(whole).unflatten(1, (-1, 2)) - batch.places)[known]
        told.append(10 * off.square().mean())
        return torch.stack(told).sum()


@dataclass(frozen=True, eq=False)
class SceneBatch:
    """What a step learns from.

    Parameters
    ----------
    pictures : (B, 3, h, w)
    sentences : B of them
        One true of each picture.
    true : (B, B)
        Which sentence is true of which picture.
    shape, colour : (B, P)
        What each patch shows, from 1; 0 for the ground.
    things : (B, shapes * colours)
        1 for what is there.
    ground : (B,)
    places : (B, shapes + colours, 2)
        Where the only thing of each shape and of each colour is (x, y); NaN where there is none, or two.
    """

    pictures: Tensor
    sentences: list[str]
    true: Tensor
    shape: Tensor
    colour: Tensor
    things: Tensor
    ground: Tensor
    places: Tensor


def batches(rng: np.random.Generator, recipe: SceneRecipe, drawn: Drawn) -> Iterator[SceneBatch]:
    """Yield ``recipe.steps`` batches of whole groups, half of the pictures in a mirror, with sentences drawn anew."""
    n_groups = len(drawn.scenes) // recipe.group
    order = np.zeros(0, np.int64)
    for _ in range(recipe.steps):
        while len(order) < recipe.batch:
            order = np.concatenate([order, rng.permutation(n_groups)])
        groups, order = order[: recipe.batch], order[recipe.batch :]
        rows = (groups[:, None] * recipe.group + np.arange(recipe.group)).ravel()
        yield _batch_of(rng, drawn, rows, PREPARATION.height // recipe.patch)


def _batch_of(rng: np.random.Generator, drawn: Drawn, rows: Ints, n_side: int) -> SceneBatch:
    flipped = rng.random(len(rows)) < 0.5
    said = [describe(rng, drawn.scenes[row], fully=rng.random() < 0.5) for row in rows]
    said = [mirrored(of) if flip else of for of, flip in zip(said, flipped, strict=True)]
    codes = _seen(drawn.codes, rows, flipped)
    pixels = np.where(flipped[:, None, None, None], drawn.pixels[rows][:, :, ::-1], drawn.pixels[rows])
    shape, colour = patch_labels(drawn, rows, flipped, n_side)
    things = torch.zeros(len(rows), len(SHAPES) * len(COLOURS))
    row, thing = np.nonzero(codes.shape != ANY)
    things[row, codes.shape[row, thing].astype(np.int64) * len(COLOURS) + codes.colour[row, thing]] = 1
    return SceneBatch(
        prepared(pixels, rng),
        [in_words(rng, of) for of in said],
        torch.from_numpy(truth(codes, said)),
        shape,
        colour,
        things,
        torch.from_numpy(codes.ground.astype(np.int64)),
        _places(drawn, rows, flipped),
    )


def _places(drawn: Drawn, rows: Ints, flipped: Bools) -> Tensor:
    """Where the only thing of each shape and of each colour is, (B, shapes + colours, 2)."""
    places = np.full((len(rows), len(SHAPES) + len(COLOURS), 2), np.nan, np.float32)
    for at, (row, mirror) in enumerate(zip(rows.tolist(), flipped.tolist(), strict=True)):
        seen: set[int] = set()
        for thing in drawn.scenes[row].things:
            x, y = thing.place(drawn.shares[row])
            for number in (SHAPES.index(thing.shape), len(SHAPES) + COLOURS.index(thing.colour)):
                places[at, number] = np.nan if number in seen else (ASPECT - x if mirror else x, y)
                seen.add(number)
    return torch.from_numpy(places)


def _seen(codes: SceneCodes, rows: Ints, flipped: Bools) -> SceneCodes:
    """Return the codes of some scenes, some of them as a mirror shows them."""
    relation = codes.relation[rows]
    mirror = np.array([*(MIRRORED[number] for number in range(len(RELATION_WORDS))), ANY], np.int8)
    relation = np.where(flipped[:, None, None], mirror[relation], relation)
    return SceneCodes(codes.shape[rows], codes.colour[rows], codes.large[rows], relation, codes.ground[rows])


def accuracy(encoder: Encoder, drawn: Drawn, rng: np.random.Generator, *, group: int) -> dict[str, float]:
    """Measure how well sentences find their scenes among all of `drawn`, which the encoder must not have learned from.

    For each scene a sentence is drawn that says all of two things (or of the only one) and the ground.

    Parameters
    ----------
    encoder
        Any encoder.
    drawn
        Scenes in groups.
    rng
        Draws the sentences.
    group
        Scenes a group.

    Returns
    -------
    dict
        ``first``: share of sentences whose best scene is one they are true of. ``group``: the same among the scenes
        of its group only, which differ in one respect. ``chance_first``, ``chance_group``: of a blind choice.
    """
    descriptions = [describe(rng, scene, fully=True) for scene in drawn.scenes]
    true = truth(drawn.codes, descriptions)
    blocks = [drawn.pixels[first : first + 256] for first in range(0, len(drawn.pixels), 256)]
    image = np.concatenate([encoder.images(np.stack([encoder.prepare(of) for of in block])) for block in blocks])
    text = encoder.sentences([in_words(rng, of) for of in descriptions])
    image, text = (of / np.linalg.norm(of, axis=1, keepdims=True) for of in (image, text))
    scores = image @ text.T
    n = np.arange(len(descriptions))
    same = n[:, None] // group == n[None, :] // group
    return {
        "first": float(true[scores.argmax(0), n].mean()),
        "group": float(true[np.where(same, scores, -np.inf).argmax(0), n].mean()),
        "chance_first": float(true.mean()),
        "chance_group": float((true & same).sum() / same.sum()),
    }


def write_encoder(folder: Path, model: CLIPModel, tokenizer: CLIPTokenizer) -> None:
    """Write the encoder as :func:`truemoment.media.video.encoders.load_encoder` takes it, weights in half precision.

    Parameters
    ----------
    folder
        Where to; files of the same names are replaced.
    model, tokenizer
        What :func:`train` returned.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: tensor.half() for name, tensor in model.state_dict().items()}
    with atomic_write(folder / "model.safetensors") as stream:
        stream.write(save(tensors, metadata={"format": "pt"}))
    model.config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    with atomic_write(folder / KNOWN_WORDS) as stream:
        stream.write("".join(f"{word}\n" for word in known_words()).encode())
    with atomic_write(folder / PLAIN_SENTENCES) as stream:
        stream.write("".join(f"{sentence}\n" for sentence in plain_sentences()).encode())
    with atomic_write(folder / "preprocessor_config.json") as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(_preprocessor_config()), indent=2) + b"\n")


def plain_sentences(count: int = 250, seed: int = 0) -> list[str]:
    """Return different sentences about drawn scenes, that searches compare a sentence with."""
    rng, sentences = np.random.default_rng(seed), dict[str, None]()
    while len(sentences) < count:
        scene = draw_scene(rng, [Noun(None, None)] * int(rng.integers(1, 3)))
        sentences[in_words(rng, describe(rng, scene, fully=True), verbs=STILL, plain=True)] = None
    return list(sentences)


def _preprocessor_config() -> dict[str, object]:
    """Return the preparation of pictures as transformers writes it."""
    middle = {"height": PREPARATION.height, "width": PREPARATION.width}
    return {
        "do_resize": True,
        "size": middle if PREPARATION.shortest_side is None else {"shortest_edge": PREPARATION.shortest_side},
        "do_center_crop": PREPARATION.shortest_side is not None,
        "crop_size": middle,
        "do_rescale": True,
        "rescale_factor": PREPARATION.rescale,
        "do_normalize": True,
        "image_mean": PREPARATION.mean,
        "image_std": PREPARATION.std,
        "resample": PREPARATION.resample,
    }
