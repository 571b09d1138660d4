"""How often a search says that nothing stands out, for sentences whose moments are there and for others.

Films of shapes are rendered (truemoment.worlds.scenes), each with an index of its own by the included model. A film's
own sentences are there. Sentences of the same form that are true of no scene of the film are absent: most of them name
things, colours and grounds that the film has, in another combination. The limit was chosen on 30 films of 3 minutes
(seeds 301 to 330, of which 195 sentences are there and 1,800 are not); the seeds below were not looked at before.

Run: OMP_NUM_THREADS=1 python benchmarks/nothing.py FOLDER [--films 20] [--minutes 3]
A second run in the same folder keeps films and indexes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from truemoment.searching.encoder_options import EncoderOptions
from truemoment.searching.request import RankingOptions
from truemoment.searching.session import SearchSession, SearchTarget, open_session
from truemoment.searching.unrelated import STANDS_OUT
from truemoment.worlds.descriptions import STILL, Noun, codes_of, describe, draw_scene, in_words, truth
from truemoment.worlds.scenes import SceneVideo, plan_video, render_video

FIRST_SEED, N_ABSENT = 401, 60
LIMITS = (0.8, 0.9, STANDS_OUT, 0.95, 0.97)
WITHOUT_SENSE = ("zzzz qqqq", "asdf jkl", "quarterly earnings", "the president speaks", "a man opens a door")


def absent(video: SceneVideo, rng: np.random.Generator) -> list[str]:
    """Return sentences that are true of no scene, at its start, middle or end."""
    scenes, sentences = [shot.scene for shot in video.shots], list[str]()
    codes = [codes_of(scenes, [at] * len(scenes)) for at in (0.0, 0.5, 1.0)]
    while len(sentences) < N_ABSENT:
        scene = draw_scene(rng, [Noun(None, None)] * (1 if rng.random() < 0.3 else 2))
        description = describe(rng, scene, fully=True)
        if not any(truth(some, [description]).any() for some in codes):
            sentences.append(in_words(rng, description, verbs=STILL, plain=True))
    return sentences


def best_matches(session: SearchSession, sentences: list[str]) -> list[float]:
    """Return the match of the best moment of each sentence."""
    matches = [session.find(sentence).moments[0].match for sentence in sentences]
    return [match for match in matches if match is not None]


def main() -> None:
    """Print the shares of sentences of which a search says that nothing stands out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--films", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=3.0)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    there, others, nonsense = list[float](), list[float](), list[float]()
    for seed in range(FIRST_SEED, FIRST_SEED + arguments.films):
        film = arguments.folder / f"film{seed}-{arguments.minutes:g}.mp4"
        if not film.is_file():
            render_video(film, np.random.default_rng(seed), arguments.minutes)
        video = plan_video(np.random.default_rng(seed), arguments.minutes)
        options = EncoderOptions(model="scenes", fps=2.0)
        with open_session(SearchTarget(film, options), RankingOptions()) as session:
            there += best_matches(session, list(video.sentences))
            others += best_matches(session, absent(video, np.random.default_rng(10_000 + seed)))
            nonsense += best_matches(session, list(WITHOUT_SENSE))
    sizes = f"{len(there)} sentences that are there, {len(others)} that are absent, {len(nonsense)} without sense"
    print(f"{arguments.films} films of {arguments.minutes:g} minutes: {sizes}")
    print("| nothing stands out below a match of | there | absent | without sense |\n| --- | --- | --- | --- |")
    for limit in LIMITS:
        shares = (100 * np.mean(np.array(matches) < limit) for matches in (there, others, nonsense))
        print(f"| {limit:g} | " + " | ".join(f"{share:.1f}" for share in shares) + " |")


if __name__ == "__main__":
    main()
