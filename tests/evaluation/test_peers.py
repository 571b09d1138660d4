"""Our protocols beside the evaluators that they describe, on the same files.

``tests/reference/peers.json`` holds what each public evaluator gave: repository, commit, file, call. Its
function was handed the references as annotated unless an id says "clipped", so the protocols of evaluators
whose *loader* clips appear both with ``clip_references=no`` and as they are.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from truemoment import Predictions, get_protocol
from truemoment.data.datasets import load_annotations
from truemoment.data.formats import read_predictions
from truemoment.evaluation.evaluate import evaluate

pytestmark = pytest.mark.data

PEERS = json.loads((Path(__file__).resolve().parents[1] / "reference" / "peers.json").read_text(encoding="utf-8"))
RUNS = {run["id"]: run for run in PEERS["runs"]}

# Ten moments of C were suppressed by the evaluators with room for ten, hence top=10 there.
AS_CALLED = {
    "2d-tan/B": "2d-tan,clip_references=no,nms_threshold=none,top=none",
    "2d-tan/C": "2d-tan,clip_references=no,nms_threshold=none,top=none",
    "2d-tan/C/nms=0.3": "2d-tan,clip_references=no,nms_threshold=0.3,top=10",
    "2d-tan/C/nms=0.4": "2d-tan,clip_references=no,nms_threshold=0.4,top=10",
    "2d-tan/C/nms=0.45": "2d-tan,clip_references=no,nms_threshold=0.45,top=10",
    "2d-tan/C/nms=0.5": "2d-tan,clip_references=no,nms_threshold=0.5,top=10",
    "2d-tan/C/nms=0.7": "2d-tan,clip_references=no,nms_threshold=0.7,top=10",
    "2d-tan/B/clipped": "2d-tan",
    "2d-tan/C/clipped": "2d-tan",
    "cone/B": "cone",
    "cone/C": "cone",
    "cone-ego4d/B": "cone,precision=float64",
    "cone-ego4d/C": "cone,precision=float64",
    "cone-2dtan/B": "2d-tan,clip_references=no,nms_threshold=none,top=none",
    "cone-2dtan/C": "2d-tan,clip_references=no,nms_threshold=none,top=none",
    "hidden-challenges/B": "hidden-challenges",
    "hidden-challenges/C": "hidden-challenges",
    "hidden-challenges/C/nms=0.3": "hidden-challenges,nms_threshold=0.3,top=10",
    "hidden-challenges/C/nms=0.45": "hidden-challenges,nms_threshold=0.45,top=10",
    "hidden-challenges/C/nms=0.5": "hidden-challenges,nms_threshold=0.5,top=10",
    "lmms-eval/B": "lmms-eval",
    "lmms-eval/C": "lmms-eval",
    "mad-clip/B": "mad-clip,nms_threshold=none",
    "mad-clip/C": "mad-clip,nms_threshold=none",
    "mad-clip/C/nms=0.3": "mad-clip",
    "mad-clip/C/nms=0.45": "mad-clip,nms_threshold=0.45,top=10",
    "mad-clip/C/nms=0.5": "mad-clip,nms_threshold=0.5,top=10",
    "mad-vlgnet/B": "mad-vlgnet,clip_references=no,nms_threshold=none",
    "mad-vlgnet/C": "mad-vlgnet,clip_references=no,nms_threshold=none",
    "mad-vlgnet/C/nms=0.3": "mad-vlgnet,clip_references=no,nms_threshold=0.3,top=10",
    "mad-vlgnet/C/nms=0.45": "mad-vlgnet,clip_references=no,nms_threshold=0.45,top=10",
    "mad-vlgnet/C/nms=0.5": "mad-vlgnet,clip_references=no,nms_threshold=0.5,top=10",
    "mad-vlgnet/B/clipped": "mad-vlgnet",
    "mad-vlgnet/C/clipped": "mad-vlgnet",
    "mmaction2/B/seconds": "mmaction2,times=seconds,clip_references=no,clip_predictions=no,precision=float64",
    "mmaction2/C/seconds": "mmaction2,times=seconds,clip_references=no,clip_predictions=no,precision=float64",
    "mmaction2/B/normalised": "mmaction2,clip_predictions=no,precision=float64",
    "mmaction2/C/normalised": "mmaction2,clip_predictions=no,precision=float64",
    "mmaction2/B/unclipped": "mmaction2,clip_references=no,clip_predictions=no,precision=float64",
    "mmaction2/B": "mmaction2",
    "mmaction2/C": "mmaction2",
    "hao2022/B/released": "hao2022",
    "hao2022/B": "hao2022",
    "hao2022/C": "hao2022",
    "timelens/B": "timelens",
    "timelens/C": "timelens",
    "unitime/B": "unitime",
    "unitime/C": "unitime,top=1",
    "unitime/A/1": "unitime,top=1",
    "unitime/A/2": "unitime,top=2",
    "unitime/A/10": "unitime",
    "vslnet/B": "vslnet,clip_references=no",
    "vslnet/C": "vslnet,clip_references=no",
    "vslnet/B/clipped": "vslnet",
    "vslnet/C/clipped": "vslnet",
    "videomind/A": "videomind",
    "videomind/B": "videomind",
    "videomind/C": "videomind",
    "videomind-qvhighlights/A": "moment-detr",
    "moment-detr/A": "moment-detr",
    "moment-detr/B": "moment-detr",
    "moment-detr/C": "moment-detr",
    "moment-detr/C/nms=0.3": "moment-detr,nms_threshold=0.3",
    "moment-detr/C/nms=0.45": "moment-detr,nms_threshold=0.45",
    "moment-detr/C/nms=0.5": "moment-detr,nms_threshold=0.5",
    "moment-detr/C/nms=0.7": "moment-detr,nms_threshold=0.7",
}


@pytest.fixture(scope="module", name="ood")
def ood_fixture(data_dir):
    return load_annotations("charades-cd", "test-ood", data_dir=data_dir)


@pytest.fixture(scope="module", name="inputs")
def inputs_fixture(data_dir, ood):
    highlights = load_annotations("qvhighlights", "val", data_dir=data_dir)
    sample, _ = read_predictions(data_dir / "qvhighlights" / "sample_val_preds.jsonl", highlights)
    released, _ = read_predictions(data_dir / "predictions" / "hao2022_charades_cd_test_ood.json", ood)
    made = Predictions.from_lists({row["query_id"]: row["moments"] for row in synthetic(ood)})
    return {"A": (highlights, sample), "B": (ood, released), "C": (ood, made)}


def synthetic(annotations):
    """Yield the rows of input C: ten moments a query, two scalar draws each, in the order of the file."""
    rng = np.random.default_rng(0)
    queries = annotations.queries
    columns = zip(queries.query_id, queries.video_id, queries.sentence, queries.duration_s.tolist(), strict=True)
    for query_id, video_id, sentence, duration in columns:
        moments = []
        for rank in range(10):
            start = round(float(rng.uniform(0.0, 0.9 * duration)), 2)
            width = float(rng.uniform(0.5, 0.6 * duration))
            moments.append([start, round(min(start + width, duration * 1.05), 2), (10 - rank) / 10])
        yield {"query_id": query_id, "video_id": video_id, "sentence": sentence, "moments": moments}


def test_every_run_is_compared():
    assert set(AS_CALLED) == set(RUNS)
    named = {protocol for protocol in AS_CALLED.values() if "," not in protocol}
    evaluators = {"2d-tan", "moment-detr", "vslnet", "timelens", "lmms-eval", "videomind", "unitime", "cone"}
    evaluators |= {"mad-clip", "mad-vlgnet", "hidden-challenges", "hao2022", "mmaction2"}
    assert named == evaluators  # each also as it is, no field changed


# Copies of other evaluators, shipped by a third: no protocol of their own.
PEERS_THAT_COPY_ANOTHER = {"cone-2dtan", "videomind-qvhighlights"}


@pytest.mark.parametrize(
    "run",
    [run for run in RUNS.values() if run["id"].split("/")[0] not in PEERS_THAT_COPY_ANOTHER],
    ids=lambda run: run["id"],
)
def test_sources_are_the_ones_the_protocol_names(run):
    source = get_protocol(AS_CALLED[run["id"]]).source
    assert run["repository"] in source or run["repository"].split("/")[1] in source
    assert run["commit"][:7] in source


def test_synthetic_input_is_the_one_that_was_evaluated(ood):
    text = "".join(json.dumps(row) + "\n" for row in synthetic(ood))
    assert hashlib.sha256(text.encode()).hexdigest() == PEERS["inputs"]["C"]["sha256_of_json_lines"]


def has_recall(run):
    return any(measure.startswith("R@") for measure in {**run.get("counts", {}), **run.get("values", {})})


@pytest.mark.parametrize("run", [*filter(has_recall, RUNS.values())], ids=lambda run: run["id"])
def test_hit_counts_are_the_evaluators(inputs, run):
    annotations, predictions = inputs[run["input"]]
    assert annotations.n_queries == run["n_queries"]
    expected = dict(run.get("counts", {}))
    # Recalls given as percentages of the queries of a length class (or of all) stand with the values.
    shares = {m: value for m, value in run.get("values", {}).items() if m.startswith(("R@", "HIT@"))}
    scores = evaluate(annotations, predictions, "; ".join(expected | shares), AS_CALLED[run["id"]])
    for measure, share in shares.items():
        hits = share / 100 * scores.weight[scores.row(measure)].sum()
        assert abs(hits - round(hits)) < 1e-6, measure  # the class has as many queries as theirs
        assert expected.setdefault(measure, round(hits)) == round(hits)
    got = {measure: int(scores.numerator[scores.row(measure)].sum()) for measure in expected}
    assert got == expected


@pytest.mark.parametrize("run", [run for run in RUNS.values() if "values" in run], ids=lambda run: run["id"])
def test_means_are_the_evaluators(inputs, run):
    measures = [m for m in run["values"] if not m.startswith(("R@", "HIT@"))]
    scores = evaluate(*inputs[run["input"]], "; ".join(measures), AS_CALLED[run["id"]])
    unit = 100 if run["unit"] == "percent" else 1
    expected = {measure: run["values"][measure] / unit for measure in measures}
    got = {measure: scores.value(measure) for measure in measures}
    if run["id"].startswith("unitime/"):
        # UniTime averages 1,550 or 3,375 float32 numbers in float32 (pairwise, so a few units of 6e-8); we in float64.
        assert got == pytest.approx(expected, rel=1e-6, abs=0)
    else:
        # Evaluators that compute IoUs in float32 average them in float64 (VideoMind): the same numbers, other sums.
        assert got == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.parametrize("comparison", [">", ">="])
@pytest.mark.parametrize(("kind", "tolerance"), [("exact", "1e-9"), ("float64", "none")])
@pytest.mark.parametrize("name", ["B", "C"])
def test_the_default_protocol_decides_ties_as_rational_arithmetic_does(inputs, name, kind, tolerance, comparison):
    # "exact": decimals as written, as fractions; "float64": the plain formula. They differ by up to 20 of 3,375 hits.
    counts = PEERS["exact"]["counts"][name]
    protocol = f"default,comparison={comparison},tolerance={tolerance}"
    scores = evaluate(*inputs[name], "; ".join(counts), protocol)
    got = {measure: int(scores.numerator[scores.row(measure)].sum()) for measure in counts}
    assert got == {measure: count[kind + comparison] for measure, count in counts.items()}


@pytest.mark.parametrize("name", ["B", "C"])
def test_queries_on_a_threshold_are_those_of_rational_arithmetic(inputs, name):
    expected = {f"R@1,IoU={m}": count for m, count in PEERS["exact"]["on_threshold"][name].items()}
    scores = evaluate(*inputs[name], "; ".join(expected))
    assert {figure.measure: figure.on_threshold for figure in scores.measured()} == expected


def test_the_log_that_came_with_the_released_predictions(inputs):
    # haojc/ShufflingVideosForTSG at df562a0, its test.log: mIoU and R@1 at 0.1, 0.3, 0.5, 0.7, 0.9.
    scores = evaluate(*inputs["B"], protocol="hao2022")
    printed = {figure.measure: scores.protocol.percent(figure.value) for figure in scores.measured()}
    recalls = {"0.1": "75.35", "0.3": "63.85", "0.5": "46.84", "0.7": "27.47", "0.9": "6.64"}
    assert printed == {f"R@1,IoU={m}": value for m, value in recalls.items()} | {"mIoU": "44.28"}


def test_the_figures_that_came_with_qvhighlights(inputs, data_dir):
    # jayleicn/moment_detr: sample_val_preds_metrics_raw.json beside sample_val_preds.jsonl.
    published = json.loads((data_dir / "qvhighlights" / "sample_val_preds_metrics_raw.json").read_text())["brief"]
    ours = {
        "MR-full-R1@0.5": "R@1,IoU=0.5",
        "MR-full-R1@0.7": "R@1,IoU=0.7",
        "MR-full-mAP": "mAP",
        "MR-full-mAP@0.5": "mAP,IoU=0.5",
        "MR-full-mAP@0.75": "mAP,IoU=0.75",
        "MR-long-mAP": "mAP,length=long",
        "MR-middle-mAP": "mAP,length=middle",
        "MR-short-mAP": "mAP,length=short",
        **{f"HL-min-{level}-mAP": f"HL-mAP,min={level}" for level in ("Fair", "Good", "VeryGood")},
        **{f"HL-min-{level}-Hit1": f"HIT@1,min={level}" for level in ("Fair", "Good", "VeryGood")},
    }
    assert set(published) == set(ours)
    scores = evaluate(*inputs["A"])
    assert scores.protocol.name == "moment-detr"
    printed = {theirs: float(scores.protocol.percent(scores.value(measure))) for theirs, measure in ours.items()}
    assert printed == published
