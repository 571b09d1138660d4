"""Commands of the hunt: words, and the whole files that they read, of which one becomes hostile."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.hostile.place import MINE, SAMPLES, SMALL

FEW = ["--permutations", "99", "--resamples", "200"]
SEARCHED = [
    "--sentences",
    "sentences.h5",
    "--fps",
    "1",
    "--proposals",
    "windowed-grid:window=16,stride=8,clips=8,fps=1",
]


@dataclass(frozen=True)
class Command:
    """A command.

    Parameters
    ----------
    words
        What is run in the place.
    reads
        Files and folders that it reads; of a folder, any file.
    weight
        How often it is drawn; slow commands are drawn less often.
    writes
        Files and folders that it may make.
    fails
        Whether it fails on whole files, too.
    late
        Whether it needs PyTorch, or reads video or sound.
    copies
        Files whose text it passes on: what a link in their place leads to is passed on, too.
    """

    words: tuple[str, ...]
    reads: tuple[str, ...]
    weight: float = 1.0
    writes: tuple[str, ...] = ()
    fails: bool = False
    late: bool = False
    copies: tuple[str, ...] = ()


def _of(
    line: str,
    *reads: str,
    more: list[str] | None = None,
    weight: float = 1.0,
    writes: str = "",
    fails: bool = False,
    late: bool = False,
    copies: str = "",
) -> Command:
    words = (*line.split(), *(more or []))
    return Command(words, reads, weight, tuple(writes.split()), fails, late, tuple(copies.split()))


def _formats() -> list[Command]:
    """Return one command for each sample of a format."""
    samples = [file for file in sorted(SAMPLES.iterdir()) if file.is_file() and file.name != "annotations.jsonl"]
    axis = {"fiftyone.frames.json": ["--axis", "fps=25"]}
    return [
        _of(
            f"evaluate formats/{file.name} --annotations formats/annotations.jsonl",
            f"formats/{file.name}",
            weight=0.5,
            more=axis.get(file.name),
        )
        for file in samples
    ]


COMMANDS: tuple[Command, ...] = (
    _of("evaluate a.jsonl", "a.jsonl", "mine.jsonl", more=MINE, weight=4),
    _of("evaluate a.jsonl --json - --resamples 20", "a.jsonl", "mine.jsonl", more=MINE, weight=4),
    _of("evaluate a.parquet --table md", "a.parquet", more=MINE, weight=2),
    _of("evaluate words.jsonl --show-answers 3", "words.jsonl", more=MINE, weight=2),
    *_formats(),
    _of("convert a.jsonl --to moment-detr -o new.jsonl", "a.jsonl", "mine.jsonl", more=MINE, writes="new.jsonl"),
    _of("convert a.parquet --to csv -o new.csv", "a.parquet", more=MINE, writes="new.csv"),
    _of(
        "compare a.jsonl b.jsonl --published published.csv --fit-split none --html page.html",
        "a.jsonl",
        "mine.jsonl",
        "published.csv",
        more=[*MINE, *FEW],
        weight=0.2,
        writes="page.html",
    ),
    _of(
        "humans a.jsonl --annotations people.jsonl --split test --draws 2 --json -",
        "people.jsonl",
        "a.jsonl",
        more=FEW,
        weight=0.5,
    ),
    _of(
        "contamination a.jsonl --annotations mine.jsonl --fresh-annotations people.jsonl --json -",
        "mine.jsonl",
        "people.jsonl",
        "a.jsonl",
        more=[*MINE, *FEW],
        weight=0.3,
    ),
    _of(
        "bias --annotations mine.jsonl --permutations 99 --draws 99 --html page.html",
        "mine.jsonl",
        weight=0.12,
        writes="page.html",
    ),
    _of("bias --dataset charades-sta --data-dir data --permutations 99 --draws 99 --json -", "data", weight=0.4),
    _of("datasets check mine.jsonl --json -", "mine.jsonl", weight=2),
    _of("datasets check charades-sta --data-dir data", "data/charades-sta"),
    _of("evaluate qv.jsonl --dataset qvhighlights --split val --data-dir data", "data/qvhighlights"),
    _of(
        "retrieve features.npz --sentences sentences.h5 --dataset lsmdc16 --split test --data-dir data", "data/lsmdc16"
    ),
    _of(
        "retrieve features.npz --sentences sentences.h5 --resamples 20 --json -",
        "features.npz",
        "sentences.h5",
        "mine.jsonl",
        more=MINE,
        weight=2,
    ),
    _of(
        "retrieve features.h5 --fps 1 --sentences sentences.h5 --resamples 20",
        "features.h5",
        "sentences.h5",
        more=MINE,
        weight=2,
    ),
    _of("features features.npz", "features.npz", "mine.jsonl", more=MINE, weight=2),
    _of("features features.h5 --fps 1 --json -", "features.h5", more=MINE, weight=2),
    _of("features features.npz -o new", "features.npz", more=MINE, writes="new"),
    _of("evaluate a.jsonl --dataset anew --split test-ood --on-unknown ignore", "anew", weight=2),
    _of("resplit --annotations mine.jsonl -o new --permutations 99", "mine.jsonl", weight=0.12, writes="new"),
    _of("baseline prior-only -o new.jsonl --fit-split train", "mine.jsonl", more=MINE, writes="new.jsonl"),
    _of("meta items a.jsonl b.jsonl --measures R@1,IoU=0.5 --json -", "a.jsonl", more=MINE, weight=0.3),
    _of(
        "compare two=a.jsonl two=b.jsonl one=predicted.jsonl --fit-split none --json -",
        "a.jsonl",
        "predicted.jsonl",
        more=MINE,
        weight=0.5,
    ),
    _of("evaluate a.jsonl --calibration --resamples 20 --json -", "a.jsonl", "mine.jsonl", more=MINE, weight=0.5),
    _of("meta agreement a.jsonl b.jsonl --resamples 10 --json -", "a.jsonl", more=MINE, weight=0.3),
    _of("meta ties a.jsonl b.jsonl --json -", "a.jsonl", "mine.jsonl", more=MINE, weight=0.3),
    _of("meta stability scores.npz again=scores.npz --json -", "scores.npz", weight=0.2),
    _of(
        "meta ambiguity a.jsonl b.jsonl --annotations people.jsonl --split test --json -",
        "a.jsonl",
        "people.jsonl",
        weight=0.2,
    ),
    _of("audit a.jsonl --fit-split none --json -", "a.jsonl", "mine.jsonl", more=[*MINE, *FEW], weight=0.1),
    _of(
        "train recipe.yaml --annotations mine.jsonl -o new",
        "recipe.yaml",
        "mine.jsonl",
        more=["--measures", "mIoU"],
        weight=0.5,
        writes="new",
        late=True,
    ),
    _of(
        "train blind-tan --annotations mine.jsonl -o run",
        "run",
        more=["--set", "train.epochs=1", *SMALL],
        weight=0.5,
        writes="run",
        late=True,
    ),
    _of("predict run run -o new.jsonl", "run", more=MINE, weight=2, writes="new.jsonl new.jsonl.raw", late=True),
    _of(
        "predict endpoint http://127.0.0.1:9/v1 --model m --videos videos -o new.jsonl --retries 0 --timeout 1",
        "mine.jsonl",
        more=MINE,
        weight=0.3,
        writes="new.jsonl new.raw.jsonl",
        fails=True,
        late=True,
    ),
    _of(
        "predict prompts http://127.0.0.1:9/v1 seconds clock --model m --videos videos -o new.jsonl --retries 0",
        "mine.jsonl",
        more=["--timeout", "1", *MINE],
        weight=0.3,
        writes="new.seconds.jsonl new.seconds.raw.jsonl new.clock.jsonl new.clock.raw.jsonl",
        fails=True,
        late=True,
    ),
    _of("search red red.index --json -", "red.index", "red.mp4", weight=2, late=True),
    _of("search red red.index -o new.otio --csv new.csv", "red.index", "red.mp4", writes="new.otio new.csv", late=True),
    _of(
        "search split features.npz -o new.jsonl",
        "features.npz",
        "sentences.h5",
        "mine.jsonl",
        more=[*SEARCHED, *MINE],
        writes="new.jsonl",
        late=True,
    ),
    _of("index red.mp4 -o new.index --model scenes", "red.mp4", weight=0.7, writes="new.index", late=True),
    _of("index red.mp4 -o red.index --model scenes", "red.index", weight=0.7, writes="red.index", late=True),
    _of("collect align sound.wav track.wav --json -", "sound.wav", "track.wav", weight=0.15, late=True),
    _of("leaderboard board -o new", "board/leaderboard.yaml", "board/a.jsonl", weight=0.1, writes="new"),
    _of("cite scores.json", "scores.json"),
    _of("config", "config.json", weight=0.5),
    _of("annotate status study --json -", "study", weight=2, writes="study"),
    _of("annotate export study -o new", "study", weight=2, writes="new study"),
    _of("annotate people study list", "study", weight=0.5, writes="study"),
    _of("annotate people study add 1", "study", weight=0.5, writes="study"),
    _of(
        "annotate new new --videos videos --only only.jsonl --instructions read-me.md --controls none",
        "only.jsonl",
        "read-me.md",
        "mine.jsonl",
        more=MINE,
        writes="new",
        copies="read-me.md",
    ),
)


def files_read(command: Command, place: Path) -> list[Path]:
    """Return the files that a command reads, below a place."""
    found: list[Path] = []
    for name in command.reads:
        path = place / name
        found += sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    return [file.relative_to(place) for file in found]
