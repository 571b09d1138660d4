"""A folder of whole files, one for each kind that a command reads, small enough that a command takes milliseconds."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from pathlib import Path

import numpy as np

from truemoment.cli import run

SAMPLES = Path(__file__).parents[1] / "io" / "samples"
"""Predictions in every format, of the annotations beside them."""

CANARY = "canary-7f3a91c2"
"""A secret: a file outside the place holds it, and keys in the environment. No output may show it."""

FILM, CLIP = "1_F", "00.00.10.000-00.00.12.500"
"""A film and a clip of it, as LSMDC names them."""

SPLITS = ("train", "val", "test")
MINE = ["--annotations", "mine.jsonl", "--split", "test"]


def make_place(folder: Path) -> None:
    """Write the whole files into a new folder, and go there."""
    folder.mkdir(parents=True)
    os.chdir(folder)
    _annotations()
    shutil.copytree(SAMPLES, "formats")
    _tables()
    _videos()
    for words in (
        ["convert", "a.jsonl", *MINE, "--to", "parquet", "-o", "a.parquet"],
        ["evaluate", "a.jsonl", *MINE, "--save-scores", "scores.npz"],
        ["resplit", "--annotations", "mine.jsonl", "-o", "anew", "--permutations", "99"],
        ["evaluate", "a.jsonl", *MINE, "--json", "scores.json"],
        ["index", "red.mp4", "-o", "red.index", "--model", "scenes"],
        ["annotate", "new", "study", *MINE, "--videos", "videos", "--controls", "none"],
        ["train", "blind-tan", "--annotations", "mine.jsonl", "-o", "run", "--set", "train.epochs=1", *SMALL],
        ["search", "a red circle", "red.index", "--csv", "found.csv", "-o", "found.srt"],
        ["predict", "run", "run", *MINE, "-o", "predicted.jsonl"],
    ):
        with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
            status = run(words)
        if status not in (0, 1):
            raise SystemExit(f"{' '.join(words)}: status {status}")
    Path("board").mkdir()
    for name in ("mine.jsonl", "a.jsonl", "b.jsonl"):
        shutil.copy(name, "board")
    systems = "".join(f"- {{name: {name}, files: {name}.jsonl, sees_video: true}}\n" for name in "ab")
    board = f"title: Test\nannotations: mine.jsonl\nsplit: test\nfit_split: none\nmeasures: mIoU\nsystems:\n{systems}"
    Path("board", "leaderboard.yaml").write_text(board)
    Path("config.json").write_text('{"data-dir": "data"}')
    Path("recipe.yaml").write_text(
        "model: blind-tan\nsettings: {n_clips: 8, hidden: 8}\ntrain: {epochs: 1, batch: 4}\n"
    )


SMALL = [f"--set={name}" for name in ("settings.n_clips=8", "settings.hidden=8", "train.batch=4")]


def _annotations() -> None:
    """Write annotations of three splits, with two annotators in the test split, and two files of predictions."""
    verbs = ("opens a door", "sits down", "reads a book")
    rows = [
        {
            "query_id": f"{split}{number // 2}#{number % 2}",
            "video_id": f"{split}{number // 2}",
            "duration_s": 30.0,
            "sentence": f"a person {verbs[number % 3]}",
            "moments": [[2.0 * number, 2.0 * number + 5 + number % 3]],
            "split": split,
        }
        for split in SPLITS
        for number in range(12)
    ]
    Path("mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    people = [row | {"moments": [*row["moments"], [0.0, 8.0]], "annotators": ["p", "q"]} for row in rows[-12:]]
    Path("people.jsonl").write_text("".join(json.dumps(row) + "\n" for row in people))
    for name, shift in (("a", 1.0), ("b", 4.0)):
        answers = [
            {"query_id": row["query_id"], "moments": [[row["moments"][0][0] + shift, 29.5, 0.5], [0.0, 9.0, 0.25]]}
            for row in rows[-12:]
        ]
        Path(f"{name}.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    words = [
        {"query_id": row["query_id"], "answer": f"from {n} to {n + 6} seconds"} for n, row in enumerate(rows[-12:])
    ]
    Path("words.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in words))
    Path("only.jsonl").write_text("".join(json.dumps({"query_id": row["query_id"]}) + "\n" for row in rows[-12:-6]))
    Path("read-me.md").write_text("# What to do\n\nMark the *moment*.\n")


def _tables() -> None:
    """Write features, sentence vectors, a model's similarities, and published figures."""
    import h5py

    rng = np.random.default_rng(0)
    names = [*(f"{split}{number}" for split in SPLITS for number in range(6)), FILM]
    ids = np.frombuffer(json.dumps(names).encode(), dtype=np.uint8)
    frames = rng.standard_normal((30 * len(names), 16), dtype=np.float32)
    offsets = np.arange(len(names) + 1) * 30
    np.savez("features.npz", frames=frames, offsets=offsets, video_id=ids, fps=1.0)
    with h5py.File("features.h5", "w") as file:
        for number, name in enumerate(names):
            file[name] = frames[30 * number : 30 * number + 30]
    with h5py.File("sentences.h5", "w") as file:
        for name in names:
            for number in range(2):
                sentence = f"{FILM}_{CLIP}#{number}" if name == FILM else f"{name}#{number}"
                file[sentence] = rng.standard_normal(16, dtype=np.float32)
    Path("published.csv").write_text(
        "source,table,dataset,split,method,measure,value,unit,note\n"
        'paper,1,mine.jsonl,test,a,"R@1,IoU=0.5",33.3,percent,\n'
    )
    qv = [
        {
            "qid": n,
            "vid": f"v{n}",
            "duration": 150,
            "query": f"a dog {n}",
            "relevant_windows": [[2 * n, 2 * n + 8]],
            "relevant_clip_ids": [n],
            "saliency_scores": [[1, 2, 3]],
        }
        for n in range(4)
    ]
    answers = [
        {"qid": row["qid"], "query": row["query"], "vid": row["vid"], "pred_relevant_windows": [[0, 9, 0.5]]}
        for row in qv
    ]
    Path("qv.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    folders = {
        "charades-sta/charades_sta_test.txt": "AB1 1.0 6.5##a person opens a door.\nAB1 0.0 3.0##person sits.\n",
        "charades-sta/charades_sta_train.txt": "AB2 1.0 6.5##a person opens a door.\n",
        "qvhighlights/highlight_val_release.jsonl": "".join(json.dumps(row) + "\n" for row in qv),
        "charades-sta/Charades_v1_test.csv": "id,length\nAB1,30.5\n",
        "charades-sta/Charades_v1_train.csv": "id,length\nAB2,30.5\n",
        "lsmdc16/LSMDC16_annos_test.csv": f"{FILM}_{CLIP}\t00.00.09.000\t00.00.11.000\t"
        "00.00.10.000\t00.00.12.500\tSOMEONE opens a door.\n",
    }
    for name, text in folders.items():
        path = Path("data", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _videos() -> None:
    """Write a film of two colours, and a sound, and subtitles."""
    import wave

    import av

    Path("videos").mkdir()
    with av.open("red.mp4", "w") as container:
        stream = container.add_stream("libx264", rate=5, options={"preset": "ultrafast"})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for colour, n_frames in (((110, 110, 110), 20), ((200, 30, 30), 20)):
            pixels = np.full((48, 64, 3), colour, dtype=np.uint8)
            for _ in range(n_frames):
                container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))
    for number in range(6):
        shutil.copy("red.mp4", f"videos/test{number}.mp4")
    noise = np.random.default_rng(1).normal(0, 3000, 4000 * 70).astype("<i2")
    for name, late in (("sound.wav", 0), ("track.wav", 4000)):
        with wave.open(name, "wb") as sound:
            sound.setnchannels(1)
            sound.setsampwidth(2)
            sound.setframerate(4000)
            sound.writeframes(np.concatenate([np.zeros(late, "<i2"), noise]).tobytes())
    Path("words.srt").write_text(
        "1\n00:00:01,000 --> 00:00:02,500\nA door opens.\n\n2\n00:00:05,000 --> 00:00:06,000\nHi!\n"
    )
