"""Units of prediction files: how often wrong ones are found, and that files in seconds are never refused.

Predictions are references of real datasets, or these with noise, or the answers of blind baselines, in samples of 100
to 1,000 queries. Each sample is looked at in seconds, and written in frames, milliseconds, per cent and fractions.

Answers that hardly depend on the query, random or constant, are counted apart. Informed answers are references, exact,
rounded, or with noise of at most 0.2 durations.

Run: TRUEMOMENT_DATA=DIR python benchmarks/units.py
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from truemoment.base.errors import TrueMomentError
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Annotations
from truemoment.baselines.running import run_baseline
from truemoment.data.axes import Axis
from truemoment.data.datasets import DATASETS, load_annotations
from truemoment.data.formats import read_predictions
from truemoment.data.units import ReferenceTimes, Suspicion, look_at_units

SAMPLES = 4
SIZES = (100, 400)
RATES = (10.0, 15.0, 23.976, 24.0, 25.0, 29.97, 30.0, 50.0, 60.0)
CONSTANT = ("middle half", "whole video")
RANDOM = ("places of other queries", "uniform in the video", "noise of 0.5 durations")
FILES = (
    ("predictions/hao2022_charades_cd_test_ood.json", "charades-cd", "test-ood"),
    ("qvhighlights/sample_val_preds.jsonl", "qvhighlights", "val"),
)
Moments = tuple[Floats, Floats]


def answers(
    reference: Moments, duration_s: Floats, rng: np.random.Generator, *, honest: bool
) -> Iterator[tuple[str, Moments]]:
    """Yield kinds of predictions in seconds: exact, with noise, and blind."""
    start_s, end_s = reference
    yield "references", reference
    shuffled = rng.permutation(len(start_s))
    for share in (0.05, 0.2, 0.5):
        noise = rng.normal(0, share, (2, len(start_s))) * duration_s
        low, high = np.sort(np.stack(reference) + noise, axis=0).clip(0, None)
        yield f"noise of {share:g} durations", (low.clip(0, duration_s), high.clip(0, duration_s))
        if honest:
            yield f"noise of {share:g} durations, past the end", (low, high)
    if honest:
        yield "seconds of other queries", (start_s[shuffled], end_s[shuffled])
    yield "whole seconds", (np.floor(start_s), np.ceil(end_s) if honest else np.fmin(np.ceil(end_s), duration_s))
    stretch = duration_s / duration_s[shuffled]
    yield "places of other queries", (start_s[shuffled] * stretch, end_s[shuffled] * stretch)
    low, high = np.sort(rng.random((2, len(start_s))), axis=0) * duration_s
    yield "uniform in the video", (low, high)
    yield "whole video", (np.zeros(len(start_s)), duration_s.copy())
    yield "middle half", (0.25 * duration_s, 0.75 * duration_s)
    if honest:
        yield "first tenth", (np.zeros(len(start_s)), 0.1 * duration_s)
        yield "first 64 s", (start_s.clip(0, 64), end_s.clip(1, 64))
        yield "first 100 s", (start_s.clip(0, 98), end_s.clip(1, 100))
        low, high = np.sort(np.stack(reference) + rng.normal(0, 0.2, (2, len(start_s))) * duration_s, axis=0)
        yield "first 100 s, noise of 0.2 durations", (low.clip(0, 98), high.clip(1, np.fmin(100, duration_s)))
        for share in (0.0, 0.05, 0.1):
            low, high = np.sort(np.stack(reference) + rng.normal(0, share, (2, len(start_s))) * duration_s, axis=0)
            anywhere = np.sort(rng.random((2, len(start_s))), axis=0) * np.fmin(100, duration_s)
            later, most = end_s > 100, np.fmin(100, duration_s)
            moments = np.where(later, anywhere, np.stack([low, high]).clip(0, most))
            yield f"first 100 s, anywhere if later, noise of {share:g} durations", (moments[0], moments[1])


def frames(rate: float, t: Floats, _: Floats) -> Floats:
    """Return seconds as frames at a rate."""
    return np.round(t * rate)


def units() -> dict[str, Callable[[Floats, Floats], Floats]]:
    """Return wrong units by name: functions of seconds and duration."""
    wrong: dict[str, Callable[[Floats, Floats], Floats]] = {
        f"frames at {rate:g}": partial(frames, rate) for rate in RATES
    }
    wrong["milliseconds"] = lambda t, _: np.round(1000 * t)
    wrong["per cent"] = lambda t, duration_s: np.round(100 * t / duration_s, 1)
    wrong["whole per cent"] = lambda t, duration_s: np.round(100 * t / duration_s)
    wrong["fractions"] = lambda t, duration_s: np.round(t / duration_s, 4)
    return wrong


def fits(suspicion: Suspicion | None, name: str) -> bool:
    """Whether a certain suspicion names the unit, a rate to 5 %."""
    if suspicion is None or not suspicion.certain or suspicion.axis is None:
        return False
    axis: Axis = suspicion.axis
    if name.startswith("frames"):
        rate = float(name.rsplit(maxsplit=1)[-1])
        return axis.kind == "fps" and abs(axis.number / rate - 1) <= 0.05
    return axis.kind in {"milliseconds": ("milliseconds",), "fractions": ("fraction",)}.get(name, ("percent", "bins"))


def sampled(annotations: Annotations, query: Ints) -> tuple[ReferenceTimes, Floats, Moments]:
    """Return references, durations and the first reference of queries."""
    references = ReferenceTimes.of(annotations, query)
    first = references.offsets[:-1]
    return references, annotations.queries.duration_s[query], (references.start_s[first], references.end_s[first])


def main() -> None:  # noqa: PLR0912 - a report of many counts
    """Print the shares by unit, and the files in seconds that were refused."""
    rng = np.random.default_rng(0)
    looked: Counter[tuple[str, str]] = Counter()
    found: Counter[tuple[str, str]] = Counter()
    named: Counter[str] = Counter()
    unseen: Counter[tuple[str, str, str]] = Counter()
    missed: Counter[tuple[str, str, str]] = Counter()
    honest, refused, spent_s = 0, Counter[tuple[str, str]](), 0.0
    for dataset, split in splits():
        annotations = load_annotations(dataset, split, data_dir=Path(os.environ["TRUEMOMENT_DATA"]))
        n_queries = annotations.n_queries
        sizes = [size for size in SIZES if size < n_queries for _ in range(SAMPLES)]
        for size in sizes:
            query = np.sort(rng.choice(n_queries, size, replace=False)).astype(np.int64)
            references, duration_s, first = sampled(annotations, query)
            for kind, moments in answers(first, duration_s, rng, honest=True):
                began = time.perf_counter()
                suspicion = look_at_units(*moments, duration_s, references)
                spent_s += time.perf_counter() - began
                honest += 1
                if suspicion is not None and suspicion.certain:
                    refused[dataset, f"{kind}: {suspicion}"] += 1
            for kind, (start_s, end_s) in answers(first, duration_s, rng, honest=False):
                for name, convert in units().items():
                    wrong = look_at_units(
                        convert(start_s, duration_s), convert(end_s, duration_s), duration_s, references
                    )
                    is_found = wrong is not None and wrong.certain
                    group = "constant" if kind in CONSTANT else "random" if kind in RANDOM else "informed"
                    looked[name, group] += 1
                    found[name, group] += is_found
                    if not is_found:
                        unseen[dataset, kind, name] += 1
                    if group != "informed":
                        continue
                    named[name] += fits(wrong, name)
                    if not fits(wrong, name):
                        missed[dataset, kind, name] += 1
    for name, suspicion in at_hand():
        honest += 1
        if suspicion is not None and suspicion.certain:
            refused["", f"{name}: {suspicion}"] += 1
    print(f"{honest:,} files in seconds, {sum(refused.values())} refused, {1000 * spent_s / honest:.2f} ms each")
    for (dataset, what), count in refused.most_common(20):
        print(f"    {count} {dataset} {what}")
    for name in units():
        counts = [(group, found[name, group], looked[name, group]) for group in ("informed", "random", "constant")]
        shares = ", ".join(f"{n:,} of {total:,} {group} ({n / total:.2%})" for group, n, total in counts)
        print(f"{name:16} found in {shares}; named in {named[name] / looked[name, 'informed']:.2%} of informed")
    print("most often not found:")
    for places, count in unseen.most_common(25):
        print(f"    {count:5} {', '.join(places)}")
    print("most often missed or named otherwise:")
    for places, count in missed.most_common(25):
        print(f"    {count:5} {', '.join(places)}")


def at_hand() -> Iterator[tuple[str, Suspicion | None]]:
    """Yield what the project's baselines on all splits, and the prediction files of the folder, look like."""
    data_dir = Path(os.environ["TRUEMOMENT_DATA"])
    pairs = [pair for pair in splits() if pair[1] != "train"]
    for dataset, split in pairs:
        annotations = load_annotations(dataset, split, data_dir=data_dir)
        try:
            train = load_annotations(dataset, "train", data_dir=data_dir)
        except TrueMomentError:
            train = annotations
        for name in ("predict-all", "best-constant", "bias-based", "prior-only", "random-chance", "split-constant"):
            try:
                predictions = run_baseline(name, annotations, train=train, top=1).predictions
            except TrueMomentError as error:
                print(f"{name} on {dataset}/{split}: {error}")
                continue
            query = np.array([annotations.queries.index[of] for of in predictions.query_id], dtype=np.int64)
            references = ReferenceTimes.of(annotations, query)
            times = predictions.start_s, predictions.end_s
            yield (
                f"{name} on {dataset}/{split}",
                look_at_units(*times, annotations.queries.duration_s[query], references),
            )
    for file, dataset, split in FILES:
        annotations = load_annotations(dataset, split, data_dir=data_dir)
        _, match = read_predictions(data_dir / file, annotations)
        yield file, match.units


def splits() -> Iterator[tuple[str, str]]:
    """Yield the splits that are in the folder of the data."""
    for dataset in DATASETS.values():
        for split in dataset.splits:
            try:
                load_annotations(dataset.name, split.name, data_dir=Path(os.environ["TRUEMOMENT_DATA"]))
            except TrueMomentError:
                continue
            if not split.merges:
                yield dataset.name, split.name


if __name__ == "__main__":
    main()
