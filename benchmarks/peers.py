"""Figures of published evaluators beside those of `truemoment evaluate`, on the same files.

REPOS is a folder with checkouts of the repositories in ``RUNS``, named as `git clone` names them; those that are not
there are skipped. Their evaluators run as they are, with the Python of ``--python``, which needs numpy, scikit-learn,
tqdm and terminaltables, and h5py and PyTorch for MAD. Where a repository has references and no predictions, these are
the references with noise. MAD's script searches simulated films, whose features it reads in MAD's layout.

Run: python benchmarks/peers.py REPOS --python PYTHON
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np

import truemoment as tm
from truemoment.baselines.proposals import WindowedGrid
from truemoment.data.formats import read_predictions
from truemoment.evaluation.evaluate import evaluate
from truemoment.media.features.sentences import SentenceVectors
from truemoment.searching import ZeroShot
from truemoment.worlds.films import FilmSettings, make_films

Figures = dict[str, float]
LEVELS, LENGTHS = ("Fair", "Good", "VeryGood"), ("long", "middle", "short")
OURS = {
    **{f"MR-full-R{k}@{m}": f"R@{k},IoU={m}" for k in (1, 5) for m in (0.3, 0.5, 0.7)},
    "MR-full-mAP": "mAP",
    "MR-full-mAP@0.5": "mAP,IoU=0.5",
    "MR-full-mAP@0.75": "mAP,IoU=0.75",
    "MR-full-mIoU": "mIoU",
    **{f"MR-{length}-mAP": f"mAP,length={length}" for length in LENGTHS},
    **{f"HL-min-{level}-mAP": f"HL-mAP,min={level}" for level in LEVELS},
    **{f"HL-min-{level}-Hit1": f"HIT@1,min={level}" for level in LEVELS},
}
"""Our measures by the names of moment_detr's evaluator; UniVTG's mIoU of lengths is no measure of ours."""
NLQ_THRESHOLDS, NLQ_RANKS = (0.01, 0.3, 0.5), (1, 3, 5)
N_FILMS = 3
"""Films of 20 minutes that MAD's script searches."""


class Run(NamedTuple):
    """An evaluator and the files that it gets."""

    checkout: str
    references: str
    predictions: str
    evaluator: Callable[[Path, Path, Path, str], Figures]
    protocol: str
    folder: str = ""


def moment_detr(folder: Path, references: Path, predictions: Path, python: str) -> Figures:
    """Return the figures of an evaluator that is moment_detr's or descends from it."""
    module = "eval.eval" if (folder / "eval" / "eval.py").exists() else "standalone_eval.eval"
    with tempfile.TemporaryDirectory() as saved:
        out = Path(saved) / "metrics.json"
        options = ["--submission_path", predictions, "--gt_path", references, "--save_path", out, "--not_verbose"]
        call([python, "-m", module, *options], folder)
        brief = json.loads(out.read_text(encoding="utf-8"))["brief"]
    by_name = {name.removesuffix("-key"): value for name, value in brief.items()}  # UniVTG marks some names
    return {OURS[name]: value for name, value in by_name.items() if name in OURS}


def timechat(folder: Path, references: Path, predictions: Path, python: str) -> Figures:
    """Return the figures of TimeChat's evaluator on the queries that are answered."""
    script = folder / "metrics" / "tvg" / "eval_tvg.py"
    printed = call([python, script, "--pred_file", predictions, "--gt_file", references, "--sample"], folder)
    pairs = re.findall(r"IOU (\S+): (\S+)", printed)
    return {f"R@1,IoU={threshold}": float(value) for threshold, value in pairs}


def ego4d(folder: Path, references: Path, predictions: Path, python: str) -> Figures:
    """Return the recalls of Ego4D's evaluator; its mIoU averages the best three answers and is no measure of ours."""
    script = folder / "NLQ" / "VSLNet" / "utils" / "evaluate_ego4d_nlq.py"
    numbers = ["--thresholds", *NLQ_THRESHOLDS, "--topK", *NLQ_RANKS]
    files = ["--ground_truth_json", references, "--model_prediction_json", predictions]
    row = call([python, script, *files, *numbers], folder).splitlines()[-2]
    values = [float(value) for value in re.findall(r"\d+\.\d+", row)]
    names = [f"R@{k},IoU={m}" for k in NLQ_RANKS for m in NLQ_THRESHOLDS]
    return dict(zip(names, values[: len(names)], strict=True))


def call(words: list[Any], folder: Path) -> str:
    """Run a program and return what it prints."""
    done = subprocess.run(list(map(str, words)), cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


HIDDEN_CHALLENGES = """
import json, sys, types
sys.modules["spacy"] = types.SimpleNamespace(load=lambda name: None)  # eval.py imports it and needs it for verbs only
from src.toolbox.eval import accumulate_metrics, evaluate
rows = [list(map(json.loads, open(path))) for path in sys.argv[1:]]
named = [(row["vid"], f"{row['query']} {row['qid']}") for row in rows[0]]  # a sentence may be twice in a video
length = [row["duration"] for row in rows[0]]
references = [(name, (*row["relevant_windows"][0], s)) for name, row, s in zip(named, rows[0], length)]
answers = [row["pred_relevant_windows"] for row in rows[1]]
located = [[(start, end, s) for start, end, _ in moments] for moments, s in zip(answers, length)]
rated = [[score for _, _, score in moments] for moments in answers]
found = accumulate_metrics(evaluate(references, list(zip(named, located, rated)), top_k=[1, 5]))
print(json.dumps({name: float(share) for name, share in found.items()}))
"""


def hidden_challenges(folder: Path, references: Path, predictions: Path, python: str) -> Figures:
    """Return the recalls of Hidden Challenges' evaluator, a function of Python that gets lists."""
    printed = call([python, "-c", HIDDEN_CHALLENGES, references, predictions], folder)
    shares: Figures = json.loads(printed.splitlines()[-1])
    return {re.sub(r" IoU>", ",IoU=", name): round(100 * share, 2) for name, share in shares.items()}


AS_MOMENT_DETR, AS_TIMECHAT = "moment-detr", "default,comparison=>=,missing=drop"
VAL, TEST = "data/highlight_val_release.jsonl", "data/highlight_test_with_gt.jsonl"
RUNS = (
    Run("moment_detr", VAL, "standalone_eval/sample_val_preds.jsonl", moment_detr, AS_MOMENT_DETR),
    Run("moment_detr", VAL, "run_on_video/moment_detr_ckpt/*preds.jsonl", moment_detr, AS_MOMENT_DETR),
    Run("QD-DETR", VAL, "results/*/*.jsonl", moment_detr, AS_MOMENT_DETR),
    Run("CGDETR", VAL, "results/qvhighlights/*val*.jsonl", moment_detr, AS_MOMENT_DETR),
    Run("CGDETR", VAL, "run_on_video/CLIP_ckpt/*/*.jsonl", moment_detr, AS_MOMENT_DETR),
    Run("UniVTG", "plot/qvhl/gt.jsonl", "plot/qvhl/[mu]*.jsonl", moment_detr, AS_MOMENT_DETR),
    Run(
        "lighthouse",
        "data/qvhighlight/highlight_val_release.jsonl",
        "training/standalone_eval/*.jsonl",
        moment_detr,
        AS_MOMENT_DETR,
        "training",
    ),
    Run("lighthouse", "data/castella/castella_test_release.jsonl", "noise", moment_detr, AS_MOMENT_DETR, "training"),
    Run(
        "hidden-challenges-MR",
        "../lighthouse/data/charades/charades_test_release.jsonl",
        "noise",
        hidden_challenges,
        "default",
    ),
    Run("TimeChat", "metrics/tvg/example_gt_file.json", "metrics/tvg/example_pred_file.json", timechat, AS_TIMECHAT),
    Run("VTG-LLM", "metrics/tvg/example_gt_file.json", "metrics/tvg/example_pred_file.json", timechat, AS_TIMECHAT),
)


def noisy(references: Path, folder: Path) -> Path:
    """Write the references of a file in QVHighlights' form with noise, five answers a query, as predictions."""
    rng = np.random.default_rng(0)
    path = folder / "noise.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for line in references.read_text(encoding="utf-8").splitlines():
            query = json.loads(line)
            first = np.array(query["relevant_windows"][0]) + rng.normal(0, 4, (5, 2))
            windows = np.sort(first, axis=1).clip(0, query["duration"]).round(3)
            ranked = [[*window, round(1 - rank / 5, 1)] for rank, window in enumerate(windows.tolist())]
            answer = {name: query[name] for name in ("qid", "query", "vid")} | {"pred_relevant_windows": ranked}
            stream.write(json.dumps(answer) + "\n")
    return path


def as_ego4d(references: Path, predictions: Path, folder: Path) -> tuple[Path, Path]:
    """Write queries in QVHighlights' form, and their predictions, as Ego4D does."""
    queries = [json.loads(line) for line in references.read_text(encoding="utf-8").splitlines()]
    answers = [json.loads(line) for line in predictions.read_text(encoding="utf-8").splitlines()]
    clips: list[dict[str, Any]] = []
    results = []
    for query, answer in zip(queries, answers, strict=True):
        start_s, end_s = query["relevant_windows"][0]
        asked = {"query": query["query"], "clip_start_sec": start_s, "clip_end_sec": end_s}
        annotation = {"annotation_uid": query["qid"], "language_queries": [asked]}
        clip = {"clip_uid": query["vid"], "video_start_sec": 0, "video_end_sec": query["duration"]}
        clips.append({**clip, "annotations": [annotation]})
        times = [window[:2] for window in answer["pred_relevant_windows"]]
        about = {"clip_uid": query["vid"], "annotation_uid": query["qid"], "query_idx": 0}
        results.append({**about, "predicted_times": times})
    paths = folder / "nlq_val.json", folder / "nlq_answers.json"
    paths[0].write_text(json.dumps({"videos": [{"video_uid": "all", "clips": clips}]}), encoding="utf-8")
    document = {"version": "1.0", "challenge": "ego4d_nlq_challenge", "results": results}
    paths[1].write_text(json.dumps(document), encoding="utf-8")
    return paths


def mad(checkout: Path, folder: Path, python: str) -> tuple[Figures, Figures]:
    """Return the recalls of MAD's zero-shot search of simulated films, and ours of the same vectors and sentences."""
    films = make_films(
        {"test": N_FILMS}, FilmSettings(minutes=20, n_sentences=30, nearness=0.3), np.random.default_rng(0)
    )
    told = films.annotations("test")
    vectors = films.vectors(told.queries)
    root = folder / "datasets" / "MAD"
    for part in ("annotations", "features"):
        (root / part).mkdir(parents=True)
    rows = zip(told.video_id, told.duration_s, told.start_s, told.end_s, told.sentence, strict=True)
    asked = {
        str(number): {"movie": movie, "movie_duration": s, "ext_timestamps": [start, end], "sentence": sentence}
        for number, (movie, s, start, end, sentence) in enumerate(rows)
    }
    (root / "annotations" / "MAD_test.json").write_text(json.dumps(asked), encoding="utf-8")
    with h5py.File(root / "features" / "CLIP_frames_features_5fps.h5", "w") as file:
        for name in films:
            file[name] = films[name]
    with h5py.File(root / "features" / "CLIP_language_features_MAD_test.h5", "w") as file:
        for number, vector in enumerate(vectors):
            file[str(number)] = vector
    printed = call([python, checkout / "baselines" / "0ShotCLIP" / "0_shot_baseline.py"], folder)
    cells = re.findall(r"Recall@(\d+),mIoU@(\S+)", printed)
    values = [float(value) for line in printed.splitlines() for value in re.findall(r"\d+\.\d\d", line)]
    theirs = {f"R@{k},IoU={m}": value for (k, m), value in zip(cells, values, strict=True)}
    found = SentenceVectors(dict(zip(told.query_id, vectors, strict=True)))
    answers = ZeroShot(films, found, WindowedGrid(), nms=1.0).ground(told.queries, 5000)  # the protocol suppresses
    scores = evaluate(told, answers, "; ".join(theirs), "mad-clip")
    return theirs, {measure: float(scores.protocol.percent(scores.value(measure))) for measure in theirs}


def ours(references: Path, predictions: Path, measures: Figures, protocol: str) -> Figures:
    """Return our figures by measure, as the protocol prints them."""
    annotations = tm.read_annotations(references)
    answers, _ = read_predictions(predictions, annotations)
    scores = evaluate(annotations, answers, "; ".join(measures), protocol)
    return {measure: float(scores.protocol.percent(scores.value(measure))) for measure in measures}


def comparisons(repos: Path, python: str, only: str, scratch: Path) -> Iterator[tuple[Path, str, Figures, Figures]]:
    """Yield checkout, name of the predictions, their figures and ours."""
    for run in RUNS:
        checkout = repos / run.checkout
        if not checkout.exists() or not re.search(only, run.checkout):
            continue
        references = (checkout / run.references).resolve()
        noise = [noisy(references, scratch)] if run.predictions == "noise" else []
        for predictions in noise or sorted(checkout.glob(run.predictions)):
            theirs = run.evaluator(checkout / run.folder, references, predictions.resolve(), python)
            name = f"{run.references} with noise" if noise else str(predictions.relative_to(checkout))
            yield checkout, name, theirs, ours(references, predictions, theirs, run.protocol)
    nlq, ego4d_checkout = repos / "CGDETR" / "data" / "nlq" / "nlq_val.jsonl", repos / "episodic-memory"
    if nlq.exists() and ego4d_checkout.exists() and re.search(only, ego4d_checkout.name):
        files = as_ego4d(nlq, noisy(nlq, scratch), scratch)
        theirs = ego4d(ego4d_checkout, *files, python)
        yield (
            ego4d_checkout,
            "queries of CGDETR/data/nlq/nlq_val.jsonl with noise",
            theirs,
            ours(*files, theirs, "default"),
        )
    if (repos / "MAD").exists() and re.search(only, "MAD"):
        theirs, mine = mad(repos / "MAD", scratch, python)
        yield repos / "MAD", f"zero-shot search of {N_FILMS} simulated films", theirs, mine


def main() -> None:
    """Print a row a file: repository, commit, file, number of equal figures, and the figures that differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repos", type=Path)
    parser.add_argument("--python", default="python3")
    parser.add_argument("--only", default="", help="regular expression of the checkouts that are compared")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for checkout, name, theirs, mine in comparisons(options.repos, options.python, options.only, Path(scratch)):
            commit = call(["git", "rev-parse", "--short=7", "HEAD"], checkout).strip()
            other = {measure: (value, mine[measure]) for measure, value in theirs.items() if value != mine[measure]}
            print(f"| {checkout.name} {commit} | {name} | {len(theirs) - len(other)}/{len(theirs)} |", other or "")


if __name__ == "__main__":
    main()
