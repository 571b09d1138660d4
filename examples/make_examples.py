"""Write annotations.jsonl and predictions.jsonl beside this file: a small invented world, the same every time.

Forty videos of everyday scenes, three sentences each. The invented model finds about half of the moments to within a
second or two, and elsewhere answers with the first third of the video, where many moments lie.

Run: python examples/make_examples.py
"""

import json
from pathlib import Path

import numpy as np

PEOPLE = ("a man", "a woman", "a child", "someone")
ACTIONS = (
    "opens the door",
    "pours a glass of water",
    "closes the book",
    "waters the plants",
    "picks up the phone",
    "folds a towel",
    "turns off the lamp",
    "slices an apple",
    "puts on a coat",
    "wipes the table",
)
N_VIDEOS, N_SENTENCES, N_ANSWERS = 40, 3, 5


def world(rng: np.random.Generator) -> tuple[list[dict], list[dict]]:
    """Lines of the two files."""
    annotations, predictions = [], []
    for video in range(N_VIDEOS):
        video_id, duration_s = f"scene_{video:02d}", round(float(rng.uniform(20, 60)), 1)
        for position, action in enumerate(rng.permutation(len(ACTIONS))[:N_SENTENCES]):
            length_s = float(rng.uniform(3, 0.3 * duration_s))
            start_s = float(rng.beta(0.8, 1.6)) * (duration_s - length_s)  # moments crowd at the beginning
            sentence = f"{PEOPLE[rng.integers(len(PEOPLE))]} {ACTIONS[action]}."
            query = {"query_id": f"{video_id}#{position}", "video_id": video_id}
            annotations.append(
                query
                | {
                    "duration_s": duration_s,
                    "sentence": sentence,
                    "moments": [[round(start_s, 1), round(start_s + length_s, 1)]],
                }
            )
            finds = rng.random() < 0.5
            centre = (start_s, start_s + length_s) if finds else (0.0, duration_s / 3)
            moments = []
            for rank in range(N_ANSWERS):
                low, high = sorted(np.clip(rng.normal(centre, 1.0 + 2.0 * rank), 0, duration_s))
                moments.append([round(float(low), 1), round(float(high), 1), round(0.9 - 0.15 * rank, 2)])
            predictions.append(query | {"sentence": sentence, "moments": moments})
    return annotations, predictions


def main() -> None:
    """Write both files."""
    for name, lines in zip(("annotations", "predictions"), world(np.random.default_rng(7)), strict=True):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (Path(__file__).parent / f"{name}.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
