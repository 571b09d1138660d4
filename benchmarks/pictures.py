"""How often a search for a picture says that nothing stands out, for pictures of the films and for others.

Films of shapes are rendered (truemoment.worlds.scenes) and indexed together by the included model. Four kinds of
pictures are searched for: frames of the films; the same, cropped by up to 8 % at each side and saved as a JPEG file of
quality 60; frames of films that are not in the index; and pictures of scenes whose description is true of no scene of
the films. The statistic was chosen on films 401 to 420 of benchmarks/nothing.py; the limit is that of sentences.

Run: OMP_NUM_THREADS=1 python benchmarks/pictures.py FOLDER [--films 10] [--minutes 3]
A second run in the same folder keeps films and index.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import numpy as np
from PIL import Image

from truemoment.media.video.frames import Pixels
from truemoment.searching.encoder_options import EncoderOptions
from truemoment.searching.indexing import index_videos
from truemoment.searching.query_picture import QueryPicture
from truemoment.searching.request import RankingOptions
from truemoment.searching.session import SearchTarget, open_session
from truemoment.searching.unrelated import STANDS_OUT
from truemoment.worlds.descriptions import Noun, codes_of, describe, draw_scene, truth
from truemoment.worlds.scenes import SceneVideo, draw_picture, plan_video, render_video

FIRST_SEED, FIRST_OTHER = 431, 471
A_FILM, N_ABSENT = 10, 200
LIMITS = (0.8, 0.9, STANDS_OUT, 0.95, 0.97)


def frames_of(video: SceneVideo, rng: np.random.Generator) -> list[Pixels]:
    """Return frames of some shots of a film."""
    drawn = rng.permutation(len(video.shots))[:A_FILM]
    return [draw_picture(video.shots[number].scene, float(rng.uniform(0.2, 0.8))) for number in drawn.tolist()]


def cropped(picture: Pixels, rng: np.random.Generator) -> Pixels:
    """Return a picture without some of its edges, in its size, as a JPEG file of low quality."""
    height, width, _ = picture.shape
    left, top, right, bottom = rng.uniform(0, 0.08, 4)
    box = (left * width, top * height, (1 - right) * width, (1 - bottom) * height)
    stream = io.BytesIO()
    Image.fromarray(picture).resize((width, height), box=box).save(stream, "JPEG", quality=60)
    return np.asarray(Image.open(stream))


def absent(videos: list[SceneVideo], rng: np.random.Generator) -> list[Pixels]:
    """Return pictures of scenes whose description is true of no scene of films, at its start, middle or end."""
    scenes, pictures = [shot.scene for video in videos for shot in video.shots], list[Pixels]()
    codes = [codes_of(scenes, [at] * len(scenes)) for at in (0.0, 0.5, 1.0)]
    while len(pictures) < N_ABSENT:
        scene = draw_scene(rng, [Noun(None, None)] * (1 if rng.random() < 0.3 else 2))
        description = describe(rng, scene, fully=True)
        if not any(truth(some, [description]).any() for some in codes):
            pictures.append(draw_picture(scene, 0.5))
    return pictures


def main() -> None:
    """Print the shares of pictures of which a search says that nothing stands out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--films", type=int, default=10)
    parser.add_argument("--minutes", type=float, default=3.0)
    arguments = parser.parse_args()
    films, index = arguments.folder / "films", arguments.folder / f"{arguments.films}-{arguments.minutes:g}.index"
    films.mkdir(parents=True, exist_ok=True)
    seeds = range(FIRST_SEED, FIRST_SEED + arguments.films)
    paths = [films / f"{seed}-{arguments.minutes:g}.mp4" for seed in seeds]
    for seed, path in zip(seeds, paths, strict=True):
        if not path.is_file():
            render_video(path, np.random.default_rng(seed), arguments.minutes)
    index_videos(paths, index, EncoderOptions(model="scenes", fps=2.0))
    videos = [plan_video(np.random.default_rng(seed), arguments.minutes) for seed in seeds]
    rng = np.random.default_rng(0)
    own = [picture for video in videos for picture in frames_of(video, rng)]
    others = [plan_video(np.random.default_rng(FIRST_OTHER + k), arguments.minutes) for k in range(20)]
    kinds = {
        "frames": own,
        "cropped frames": [cropped(picture, rng) for picture in own],
        "frames of other films": [picture for video in others for picture in frames_of(video, rng)],
        "absent scenes": absent(videos, rng),
    }
    with open_session(SearchTarget(index, EncoderOptions()), RankingOptions(top=1)) as session:
        matches = {
            kind: np.array([session.find_like(QueryPicture(Path(), picture)).moments[0].match for picture in pictures])
            for kind, pictures in kinds.items()
        }
    sizes = ", ".join(f"{len(pictures)} {kind}" for kind, pictures in kinds.items())
    print(f"{arguments.films} films of {arguments.minutes:g} minutes: {sizes}")
    print(f"| nothing stands out below a match of | {' | '.join(kinds)} |\n|{' --- |' * (1 + len(kinds))}")
    for limit in LIMITS:
        shares = (f"{100 * np.mean(of_kind < limit):.1f}" for of_kind in matches.values())
        print(f"| {limit:g} | {' | '.join(shares)} |")


if __name__ == "__main__":
    main()
