"""MomentMetric: the figures of `evaluate` from batches of any form, repeated and missing queries, several processes."""

import multiprocessing
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import truemoment as tm
from truemoment.base.errors import InputError, MeasureError, UsageError
from truemoment.evaluation.metric import MissingQueriesWarning

MEASURES = "R@1,IoU=0.5; R@5,IoU=0.7; dR@1,IoU=0.5; mIoU; AxIoU@10; mAP; DCG@10; R@1,IoU=0.5[ref=rows]"
PROTOCOLS = ["default", "closer-look", "moment-detr", "2d-tan", "hidden-challenges", "cone", "lmms-eval"]


def as_array(rows):
    return np.array(rows, dtype=np.float64)


def as_tensor(rows):
    import torch

    return torch.tensor(rows, dtype=torch.float64)


def batches(annotations, predictions, size, make=list):
    """Batches as arguments of `update`, a query that is not predicted left out."""
    queries = annotations.queries
    rows = predictions.rows_of(queries.query_id)
    for low in range(0, len(queries), size):
        at = [q for q in range(low, min(low + size, len(queries))) if rows[q] >= 0]
        answers, references = [], []
        for q in at:
            of = slice(*predictions.offsets[rows[q] : rows[q] + 2])
            columns = predictions.start_s[of], predictions.end_s[of], predictions.score[of]
            answers.append(make(np.stack(columns, axis=1).tolist()))
            of = slice(*annotations.offsets[q : q + 2])
            moments = np.stack([annotations.start_s[of], annotations.end_s[of]], axis=1)
            references.append(make(moments[~np.isnan(moments[:, 0])].tolist()))
        ids, videos = queries.query_id[at].tolist(), queries.video_id[at].tolist()
        yield (answers, references, ids), {"video_ids": videos, "durations_s": queries.duration_s[at]}


def of_torch(*settings, **options):
    """Make a metric of torchmetrics, which is imported by the process that needs it: it takes a second."""
    from truemoment.evaluation.metric import TorchMomentMetric

    return TorchMomentMetric(*settings, **options)


def figures(scores):
    return {str(measure): scores.value(measure) for measure in scores.measures}


# ---- The figures of evaluate


@pytest.mark.data
def test_figures_of_a_real_file_equal_those_of_evaluate(data_dir):
    # Hao et al. (2022), their predictions on Charades-CD test-ood: 3,375 queries. `evaluate` is validated against the
    # evaluators themselves (tests/evaluation/test_peers.py).
    annotations = tm.load_annotations("charades-cd", "test-ood", data_dir=data_dir)
    path = data_dir / "predictions" / "hao2022_charades_cd_test_ood.json"
    predictions, _ = tm.read_predictions(path, annotations)
    assert len(predictions) == annotations.n_queries == 3375
    metrics = {name: tm.MomentMetric(MEASURES, name) for name in PROTOCOLS}
    torch_metric = of_torch(MEASURES)
    for batch, more in batches(annotations, predictions, 64, as_array):
        for metric in [*metrics.values(), torch_metric]:
            metric.update(*batch, **more)
    for name, metric in metrics.items():
        assert metric.compute() == figures(
            tm.evaluate(predictions, annotations=annotations, measures=MEASURES, protocol=name)
        ), name
    assert torch_metric.compute() == metrics["default"].compute()
    scores = tm.evaluate(predictions, annotations=annotations, measures=MEASURES, resamples=20)
    of_seen, seen = metrics["default"].records()
    assert np.array_equal(tm.evaluate(seen, annotations=of_seen, measures=MEASURES, resamples=20).ci95, scores.ci95)


@pytest.mark.parametrize("make", [list, as_array, as_tensor])
def test_several_references_and_abstentions(world, make):
    w = world(3, n_queries=40)
    metric = tm.MomentMetric(MEASURES)
    for batch, more in batches(w.annotations, w.predictions, 7, make):
        metric.update(*batch, **more)
    seen = w.annotations.in_order(metric.records()[0].queries.query_id)
    assert seen.n_queries < w.annotations.n_queries
    assert np.diff(seen.offsets).max() > 1
    assert metric.compute() == figures(tm.evaluate(w.predictions, annotations=seen, measures=MEASURES))


def test_annotations_as_expected_are_the_references(world):
    w = world(5, n_queries=40)
    metric = tm.MomentMetric(MEASURES, expected=w.annotations)
    parts = list(batches(w.annotations, w.predictions, 7))
    for (answers, _, ids), _ in reversed(parts):
        metric.update(answers, query_ids=ids)
    with pytest.warns(MissingQueriesWarning):
        found = metric.compute()
    annotations, _ = metric.records()
    assert annotations.dataset == w.annotations.dataset
    expected = [q for q in w.annotations.queries.query_id if q in set(w.predictions.query_id)]
    assert annotations.queries.query_id.tolist() == expected
    assert found == figures(tm.evaluate(w.predictions, annotations=w.annotations.in_order(expected), measures=MEASURES))


def test_forms_of_a_batch_are_equal():
    nan = float("nan")
    padded = np.array([[[2.0, 5.0, 0.9], [1.0, 3.0, 0.1]], [[0.0, 9.0, 0.4], [nan, nan, nan]]])
    forms = [
        (padded, [[[2.0, 6.0]], [[0.0, 8.0], [7.0, 9.0]]], ["0", "1"]),
        ([padded[0], padded[1, :1]], np.array([[[2, 6], [nan, nan]], [[0, 8], [7, 9]]]), np.array([0, 1])),
        ([[(1.0, 3.0, 0.1), (2.0, 5.0, 0.9)], as_tensor([0.0, 9.0, 0.4])], [[2, 6], [[0, 8], [7, 9]]], range(2)),
        (as_tensor(padded.tolist()).requires_grad_(), [[2, 6], [[0, 8], [7, 9]]], as_tensor([0, 1]).long()),
    ]
    found = []
    for form in forms:
        metric = tm.MomentMetric("mIoU; R@2,IoU=0.5")
        metric.update(*form)
        found.append(metric.compute())
    # By hand: IoU 3/4, and 8/9 with the nearer of two references.
    assert found[0]["mIoU"] == pytest.approx((3 / 4 + 8 / 9) / 2, abs=1e-15)
    assert found == [found[0]] * 4


def test_a_query_without_a_moment_asks_for_an_abstention():
    metric = tm.MomentMetric("R@1,IoU=0.5", "default,empty=abstain")
    metric.update([[], [(1.0, 2.0)], [(1.0, 2.0)]], [[], [], [(1.0, 2.0)]], ["silent", "wrong", "found"])
    assert metric.compute() == {"R@1,IoU=0.5": 2 / 3}


def test_an_empty_batch_adds_nothing():
    metric = tm.MomentMetric("mIoU")
    metric.update([], [], [])
    metric.update([(2.0, 5.0)], [(2.0, 6.0)], ["q"])
    metric.update(np.zeros((0, 3, 2)), np.zeros((0, 2)), [])
    assert metric.compute() == {"mIoU": 0.75}
    again = tm.MomentMetric("mIoU")
    again.merge(metric.state())
    assert again.compute() == {"mIoU": 0.75}


def test_the_order_is_the_rank_without_scores():
    metric = tm.MomentMetric("R@1,IoU=0.5; R@2,IoU=0.5")
    metric.update([[(8.0, 9.0), (2.0, 5.0)]], [(2.0, 5.0)], ["q"])
    assert metric.compute() == {"R@1,IoU=0.5": 0.0, "R@2,IoU=0.5": 1.0}
    assert not metric.records()[1].scored


# ---- Repeated and missing queries


def test_an_equal_query_counts_once():
    metric = tm.MomentMetric("mIoU")
    metric.update([(2.0, 5.0), (0.0, 4.0), (2.0, 5.0)], [(2.0, 6.0), (0.0, 8.0), (2.0, 6.0)], ["a", "b", "a"])
    metric.update([(2.0, 5.0 + 1e-6)], [(2.0, 6.0)], ["a"])  # the rounding of float32
    assert metric.n_queries == 2
    assert metric.compute() == {"mIoU": (0.75 + 0.5) / 2}


@pytest.mark.parametrize(
    ("again", "reference", "video"),
    [((2.0, 5.01), (2.0, 6.0), "v"), ((2.0, 5.0), (2.0, 7.0), "v"), ((2.0, 5.0), (2.0, 6.0), "w")],
)
def test_a_query_that_differs_is_an_error(again, reference, video):
    metric = tm.MomentMetric("mIoU")
    metric.update([(2.0, 5.0)], [(2.0, 6.0)], ["a"], video_ids=["v"])
    with pytest.raises(
        InputError, match=r"^query 'a' came twice and differs: video .*, first moment .*; call reset\(\) before"
    ):
        metric.update([again], [reference], ["a"], video_ids=[video])


def test_missing_queries_are_named_and_do_not_count_as_misses():
    metric = tm.MomentMetric("R@1,IoU=0.5", expected=range(5))
    metric.update([(2.0, 5.0), (0.0, 4.0)], [(2.0, 6.0), (0.0, 9.0)], [3, 1])
    assert (metric.n_queries, metric.n_missing) == (2, 3)
    with pytest.warns(MissingQueriesWarning) as caught:
        assert metric.compute() == {"R@1,IoU=0.5": 0.5}
    assert str(caught[0].message) == (
        "3 of 5 expected queries are missing (0, 2, 4, ...): the measures are over the 2 queries seen"
    )
    metric.update([(2.0, 5.0)] * 3, [(2.0, 6.0)] * 3, [0, 2, 4])
    assert metric.compute() == {"R@1,IoU=0.5": 0.8}  # and no warning
    metric.reset()
    assert (metric.n_queries, metric.n_missing) == (0, 5)
    assert tm.MomentMetric().n_missing is None


def test_a_batch_of_a_part_gives_no_warning_in_forward():
    metric = of_torch("R@1,IoU=0.5", expected=range(3))
    assert metric([(2.0, 5.0)], [(2.0, 6.0)], [0]) == {"R@1,IoU=0.5": 1.0}
    assert metric([(0.0, 4.0)], [(0.0, 9.0)], [1]) == {"R@1,IoU=0.5": 0.0}
    with pytest.warns(MissingQueriesWarning, match="1 of 3 expected queries"):
        assert metric.compute() == {"R@1,IoU=0.5": 0.5}
    assert (metric.n_queries, metric.n_missing) == (2, 1)
    assert pickle.loads(pickle.dumps(metric)).n_missing == 1  # noqa: S301 - our own


# ---- What is refused


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (([(1, 2)], [(1, 2)]), "query_ids are missing; give ids, or the rows of the dataset as whole numbers"),
        (([(1, 2)], None, ["a"]), "references are missing; give references, or annotations as expected"),
        (([(1, 2)], [(1, 2)], ["a", "b"]), "field predictions: got 1, expected 2, one for each query id"),
        (([(1, 2)], [(1, 2)], [0.5]), "field query_ids: got 0.5, expected text or whole numbers"),
        (([(1, 2)], [(1, 2)], ["x"]), "field query_ids: 'x' is not among the 1 expected queries"),
        (([(1, 2, 3, 4)], [(1, 2)], ["a"]), "field predictions: got shape (1, 4) for a query, expected (n, 2 or 3)"),
        ((np.ones(2), [(1, 2)], ["a"]), "field predictions: got shape (2,), expected (B, n, 2 or 3) or (B, 2 or 3)"),
        (([["1", "x"]], [(1, 2)], ["a"]), "field predictions: got something that is no table of numbers, expected sec"),
        (([(1, -2)], [(1, 2)], ["a"]), "field end_s: got -2 for query 'a', expected seconds from 0 to 1e+08"),
        (([(1, 2)], [(1, 9e9)], ["a"]), "field end_s: got 9000000000 for query 'a', expected seconds up to 1e+08"),
    ],
)
def test_faults_are_refused_with_the_batch(batch, message):
    metric = tm.MomentMetric("mIoU", expected=["a"])
    with pytest.raises((InputError, UsageError)) as caught:
        metric.update(*batch)
    assert str(caught.value).startswith(message)
    assert metric.n_queries == 0


def test_other_faults():
    with pytest.raises(MeasureError):
        tm.MomentMetric("R@1,IoU=high")
    with pytest.raises(MeasureError, match="HIT@1,min=Good needs clip ratings, which a metric does not take"):
        tm.MomentMetric("mIoU; HIT@1,min=Good")
    for settings, name in ((("dR@1,IoU=0.5",), "dR@1,IoU=0.5"), (("mIoU", "closer-look"), "protocol closer-look")):
        with pytest.raises(MeasureError, match=f"^{name} needs durations_s; give them"):  # now, not after an epoch
            tm.MomentMetric(*settings).update([(1.0, 2.0)], [(1.0, 2.0)], ["a"])
    metric = tm.MomentMetric("mIoU", expected=tm.Annotations.from_rows([("a", "v", 9.0, "s", 1.0, 2.0)]))
    with pytest.raises(UsageError, match="call update before compute"):
        metric.compute()
    with pytest.raises(UsageError, match="references are given twice: expected= contains them"):
        metric.update([(1.0, 2.0)], [(1.0, 2.0)], ["a"])
    other = tm.MomentMetric("mIoU")
    other.update([(1.0, 2.0)], [(1.0, 2.0)], ["a"])
    with pytest.raises(UsageError, match="one metric has annotations as expected and the other has not"):
        metric.merge(other)
    for damaged in (other.state()[:-3], b"\0", b"\5" + bytes(7) + b"xxxxx"):
        with pytest.raises(InputError, match="is not the state of a metric"):
            other.merge(damaged)


def test_half_precision_is_warned_of():
    import torch

    metric = tm.MomentMetric("mIoU")
    for dtype, error in ((torch.bfloat16, "0.25"), (torch.float16, "0.03125")):
        # Between 64 and 128 neighbours of 8 significant bits are 0.5 apart, and of 11 bits 0.0625.
        assert float(torch.tensor(100.0 + float(error), dtype=dtype)) != 100.0 + float(error)
        with pytest.warns(
            UserWarning, match=rf"times in torch.{dtype}".replace("torch.torch", "torch") + f".* {error} s at"
        ):
            metric.update(torch.tensor([[2.0, 5.0]], dtype=dtype), [(2.0, 6.0)], [str(dtype)])


# ---- Several metrics and processes


def test_merge_of_parts_equals_the_whole(world):
    w = world(7, n_queries=40)
    whole, *parts = (tm.MomentMetric(MEASURES) for _ in range(4))
    for number, (batch, more) in enumerate(batches(w.annotations, w.predictions, 5)):
        whole.update(*batch, **more)
        parts[number // 3 % 3].update(*batch, **more)
    merged = tm.MomentMetric(MEASURES)
    for part in parts:
        merged.merge(part)
        merged.merge(part.state())  # again: equal queries count once
    assert merged.records()[0].sha256 == whole.records()[0].sha256
    assert merged.compute() == whole.compute()


REFERENCES = [(float(q), q + 4.0) for q in range(5)]
ANSWERS = [(float(q), q + 1.0 + q) for q in range(5)]
ROWS = [[0, 2, 4], [1, 3, 0], []]
"""Queries of each process: a sampler repeats query 0 to fill the second one; the third has no batch."""


def compute_in_process(rank, folder):
    from torch import distributed

    warnings.simplefilter("ignore")  # torchmetrics warns of the process without a batch
    distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=3)
    for metric in (tm.MomentMetric("mIoU", expected=range(6)), of_torch("mIoU", expected=range(6))):
        for q in ROWS[rank]:
            metric.update([ANSWERS[q]], [REFERENCES[q]], [q])
        if isinstance(metric, tm.MomentMetric):
            metric.gather()
        with (folder / f"{rank}.txt").open("a") as stream:
            print(metric.compute()["mIoU"], metric.n_queries, metric.n_missing, file=stream)
    distributed.destroy_process_group()


@pytest.mark.slow
def test_processes_are_merged_and_repeated_queries_count_once(tmp_path):
    of_torch()  # imports torchmetrics once, not in each fork

    fork = multiprocessing.get_context("fork")
    children = [fork.Process(target=compute_in_process, args=(rank, tmp_path)) for rank in range(3)]
    for child in children:
        child.start()
    for child in children:
        child.join(120)
        assert child.exitcode == 0
    # By hand: predictions start with the reference and last 1 + q of 4 seconds, the last one 5.
    value = (1 / 4 + 2 / 4 + 3 / 4 + 4 / 4 + 4 / 5) / 5
    lines = [line for rank in range(3) for line in (tmp_path / f"{rank}.txt").read_text().splitlines()]
    assert len(lines) == 6
    assert len(set(lines)) == 1  # the same digits in each process
    found, n_queries, n_missing = lines[0].split()
    assert float(found) == pytest.approx(value, abs=1e-15)
    assert (n_queries, n_missing) == ("5", "1")


def test_the_metric_needs_no_pytorch():
    code = (
        "import sys; sys.modules['torch'] = None; import truemoment as tm; m = tm.MomentMetric('mIoU'); "
        "m.update([[2.0, 5.0]], [[2.0, 6.0]], ['q']); print(m.compute()); "
        "from truemoment.evaluation.metric import TorchMomentMetric"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout == "{'mIoU': 0.75}\n"
    expected = (
        "MissingPackageError: TorchMomentMetric needs the package torchmetrics: pip install 'truemoment[torchmetrics]'"
    )
    assert run.stderr.splitlines()[-1].endswith(expected)


def test_collections_of_torchmetrics():
    from torchmetrics import MetricCollection

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both = MetricCollection({"papers": of_torch("mIoU"), "cone": of_torch("R@1,IoU=0.5", "cone")})
        both.update([(2.0, 5.0)], [(2.0, 6.0)], ["a"])
        both.update([(2.0, 5.0)], [(2.0, 8.0)], ["b"])
        assert both.compute() == {"mIoU": 0.625, "R@1,IoU=0.5": 0.5}
