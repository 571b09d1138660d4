"""Decoding and preparing of pictures for an index, with a tower that costs nothing, by 1 and 2 workers.

The peer is the way of before, written plainly: all frames are decoded, and the kept ones converted to RGB, by a thread
a core; a frame is resized whole, cropped, and scaled to 32-bit numbers; with two workers, each does so for itself. Ours
is ``embed_shards``. Both read the same H.264 files of moving noise (PyAV, libx264), strong (60 of 255) and weak (4),
with a key frame every 10, 2 or 1 s at least, in parts of 10 s, 2 of 25 frames a second. Rates are frames a second of
the clock from the seventh part on, when processes have started, and frames of a second of processor time with one
worker. The vectors of both, of a random ViT-B/32, are compared.

Run: OMP_NUM_THREADS=1 python benchmarks/indexing.py
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from search import random_clip, write_video
from truemoment.media.video.encoders import Preparation
from truemoment.media.video.frames import Outline, outline_of, shown_at
from truemoment.searching.building import embed_shards
from truemoment.searching.extraction import Loader, PreparedShard, Shard, prepare
from truemoment.searching.writing import VideoFile

CLIP = Preparation(224, 224, 224, (0.4815, 0.4578, 0.4082), (0.2686, 0.2613, 0.2758))
VIDEOS = ((640, 360, 60, 250), (640, 360, 4, 250), (640, 360, 4, 50), (640, 360, 4, 25), (1920, 1080, 4, 250))
FPS, PART_ROWS, WARM, TIMES = 2.0, 20, 6, 16


class Free:
    """A tower that costs nothing: a row is a few bytes of its picture."""

    name, fingerprint, n_dimensions, preparation = "free", "0" * 16, 49 * 3, CLIP

    def prepare(self, rgb: np.ndarray) -> np.ndarray:
        """Prepare a picture as CLIP."""
        return CLIP(rgb)

    def images(self, batch: np.ndarray) -> np.ndarray:
        """Return some bytes of each picture."""
        return batch[:, ::32, ::32].reshape(len(batch), -1).astype(np.float32)

    def sentences(self, texts: list[str]) -> np.ndarray:
        """Return nothing of use."""
        return np.zeros((len(texts), self.n_dimensions), np.float32)


@dataclass(frozen=True)
class FreeLoader(Loader):
    """Loads the tower that costs nothing."""

    def load(self) -> Any:  # noqa: ANN401 - an encoder
        """Return it."""
        return Free()


def prepared_before(rgb: np.ndarray) -> np.ndarray:
    """Resize a whole picture, crop it and scale its colours, as until now (3, 224, 224)."""
    height, width = rgb.shape[:2]
    wide, tall = (int(224 * width / height), 224) if height <= width else (224, int(224 * height / width))
    whole = np.asarray(Image.fromarray(rgb).resize((wide, tall), resample=3))
    top, left = (tall - 224) // 2, (wide - 224) // 2
    cut = whole[top : top + 224, left : left + 224].transpose(2, 0, 1).astype(np.float32) * np.float32(1 / 255)
    mean, std = (np.array(values, np.float32)[:, None, None] for values in (CLIP.mean, CLIP.std))
    return np.ascontiguousarray((cut - mean) / std)


def batch_before(shard: Shard) -> np.ndarray:
    """Decode and prepare a part as until now."""
    outline: Outline = shard.outline
    times_s = [row / FPS for row in range(shard.first_row, shard.end_row)]
    pictures = []
    for _, frame in shown_at(shard.video.path, outline, times_s, skips=False):
        scale = min(1.0, 448 / min(frame.width, frame.height))
        width, height = round(frame.width * scale), round(frame.height * scale)
        rgb = frame.reformat(width=width, height=height, format="rgb24", interpolation="AREA")
        pictures.append(prepared_before(rgb.to_ndarray()))
    return np.stack(pictures)


def rows_before(shard: Shard) -> np.ndarray:
    """Return the rows of a part, by the tower that costs nothing."""
    return batch_before(shard)[:, :, ::32, ::32].reshape(shard.end_row - shard.first_row, -1)


def before(shards: list[Shard], workers: int) -> Iterator[Any]:
    """Yield the rows of each part, as until now."""
    if workers == 1:
        yield from map(rows_before, shards)
        return
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(rows_before, shards)


def rates(results: Iterator[Any]) -> tuple[float, float]:
    """Return frames a second of the clock, from the seventh part on, and frames a second of this process's time."""
    began = time.process_time()
    stamps = [time.perf_counter() for _ in results]
    n_frames = PART_ROWS * len(stamps)
    return PART_ROWS * (len(stamps) - WARM) / (stamps[-1] - stamps[WARM - 1]), n_frames / (time.process_time() - began)


def prepared(shard: Shard, folder: Path) -> PreparedShard:
    """Decode and prepare a part as now."""
    result = prepare(shard, CLIP, folder)
    assert isinstance(result, PreparedShard)  # noqa: S101 - the video is whole
    return result


def cosine(shard: Shard, folder: Path) -> float:
    """Return the smallest cosine between vectors of both ways, of a random ViT-B/32."""
    import torch  # noqa: PLC0415 - it takes seconds

    encoder = random_clip()
    pictures = prepared(shard, folder).pictures.take()
    with torch.inference_mode():
        older = encoder.model.get_image_features(pixel_values=torch.from_numpy(batch_before(shard)))
        older = getattr(older, "pooler_output", older).numpy()
    newer = replace(encoder, preparation=CLIP).images(pictures)
    return float(min((older * newer).sum(1) / np.linalg.norm(older, axis=1) / np.linalg.norm(newer, axis=1)))


def main() -> None:
    """Print rates, ratios and cosines."""
    CLIP(np.zeros((448, 448, 3), np.uint8))  # imports PyTorch, as workers do with their first part
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for width, height, grain, gop in VIDEOS:
            path = folder / f"{height}-{grain}-{gop}.mp4"
            write_video(path, width, height, grain, gop)
            outline = outline_of(path)
            n_rows = outline.n_frames(FPS)
            parts = range(0, n_rows - PART_ROWS + 1, PART_ROWS)
            shards = [Shard(VideoFile("v", path, ""), k, k, k + PART_ROWS, FPS, outline) for k in parts] * TIMES
            load = os.getloadavg()[0]
            older, newer = {}, {}
            for workers in (1, 2):
                older[workers], of_core = rates(before(shards, workers))
                newer[workers], of_core_now = rates(embed_shards("local", iter(shards), FreeLoader("free"), workers))
                ratio = newer[workers] / older[workers]
                both = f"{older[workers]:.0f} -> {newer[workers]:.0f} a second, {ratio:.2f}"
                print(f"{path.stem}, {workers} workers: {both}")
                if workers == 1:
                    ratio = of_core_now / of_core
                    print(f"  of a second of processor time: {of_core:.0f} -> {of_core_now:.0f}, {ratio:.2f}")
            result = prepared(shards[0], folder)
            spent = ", ".join(f"{stage} {1000 * s / PART_ROWS:.1f}" for stage, s in result.seconds.items())
            print(f"  milliseconds a frame, one thread: {spent}; 2 workers now, 1 before: {newer[2] / older[1]:.2f}")
            print(f"  smallest cosine {cosine(shards[0], folder):.6f}; load {load:.1f}")


if __name__ == "__main__":
    main()
