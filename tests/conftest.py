"""What the tests share: small random worlds in exact numbers, slow reference arithmetic, films, the real data.

Worlds are written in quarters of a second, kept as fractions. Quarters are exact in float64, so an IoU
computed in float64 is the rounded value of the exact quotient and compares with a threshold (0.5, 0.7
...) as the exact one does: the exact arithmetic of the slow loops decides every tie.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import importlib.util
import io
import json
import math
import os
import shutil
import sys
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from truemoment import Annotations, Predictions
from truemoment.base.boundary import documents
from truemoment.cli import run

from . import quick
from .schemas import fault_of, kind_of, kind_of_page

settings.register_profile(
    "truemoment", deadline=None, derandomize=True, max_examples=20, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("truemoment"), derandomize=False, max_examples=500)
settings.load_profile("truemoment")  # each week the other one, and other examples: --hypothesis-profile=thorough


def pytest_configure(config):
    """Draw the same examples whichever modules are imported, except in the weekly tests.

    Hypothesis parses all of them for constants, which takes seconds in each process.
    """
    if not config.getoption("hypothesis_profile"):
        providers._get_local_constants = lambda: providers._local_constants


@pytest.fixture(autouse=True, scope="session")
def documents_are_looked_at():
    """Hold every JSON document that a test makes, and every answer of a page, to the schema of its kind."""
    as_text = documents.printable_json

    def looked_at(text):
        document = json.loads(text)
        FAULTS.append(fault_of(kind_of(document), document))
        return as_text(text)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "printable_json", looked_at)
        if importlib.util.find_spec("starlette") is not None:
            from truemoment.web.pages import app

            in_threadpool = app.run_in_threadpool

            async def answer(handler, *given, **named):
                value = await in_threadpool(handler, *given, **named)
                visit = given[0] if given else None
                if isinstance(visit, app.Visit) and visit.request.url.path.startswith(("/api/", "/media/")):
                    FAULTS.extend(fault_of(kind_of_page(handler, visit.request), of) for of in bodies_of(value, app))
                return value

            patch.setattr(app, "run_in_threadpool", answer)
        yield


def bodies_of(value, app):
    """Return what a page answers as JSON; nothing where it answers otherwise."""
    response = app.as_response(value)
    is_json = response.headers.get("content-type", "") == "application/json" and hasattr(response, "body")
    return [json.loads(response.body)] if is_json else []


FAULTS = []


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call():
    """Fail a test that made a document which does not fit its schema."""
    try:
        done = yield
        wrong = [fault for fault in FAULTS if fault]
    finally:
        FAULTS.clear()
    assert not wrong, "\n".join(dict.fromkeys(wrong))
    return done


Moment = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class World:
    """Annotations and predictions, and the same as plain Python lists of fractions."""

    annotations: Annotations
    predictions: Predictions
    duration: dict[str, Fraction]
    references: dict[str, list[Moment]]
    filed: dict[str, list[tuple[Fraction, Fraction, float]]]

    def ranked(self, query_id: str) -> list[Moment]:
        """Answers by falling score, ties in file order; nothing for a query that is not answered."""
        answers = sorted(self.filed.get(query_id, []), key=lambda answer: -answer[2])  # sorted() is stable
        return [(start, end) for start, end, _ in answers]


def make_world(seed: int, *, n_queries: int = 14, longest_quarters: int = 60) -> World:
    """Draw a world: several references, ragged lists, missing queries, empty and swapped moments."""
    rng = np.random.default_rng(seed)

    def moment(limit: int) -> Moment:
        start = int(rng.integers(0, limit))
        kind = rng.random()
        if kind < 0.08:
            end = start  # zero length
        elif kind < 0.16:
            end = int(rng.integers(0, start + 1))  # swapped (or zero length)
        else:
            end = start + int(rng.integers(1, limit))  # may lie past the video's end
        return Fraction(start, 4), Fraction(end, 4)

    duration: dict[str, Fraction] = {}
    references: dict[str, list[Moment]] = {}
    filed: dict[str, list[tuple[Fraction, Fraction, float]]] = {}
    rows = []
    limits = [int(rng.integers(8, longest_quarters + 1)) for _ in range(5)]
    for number in range(n_queries):
        video = number % 5
        query_id, limit = f"v{video}#{number // 5}", limits[video]
        duration[query_id] = Fraction(limit, 4)
        references[query_id] = [moment(limit) for _ in range(int(rng.integers(1, 5)))]
        for a, (start, end) in enumerate(references[query_id]):
            rows.append(
                (query_id, f"v{video}", float(duration[query_id]), f"s {number}", float(start), float(end), str(a))
            )
        if rng.random() < 0.85:  # else the query is missing
            length = int(rng.integers(0, 8))  # 0: an empty list
            filed[query_id] = [(*moment(limit), float(rng.integers(0, 5)) / 4) for _ in range(length)]
    order = list(filed)
    rng.shuffle(order)
    predictions = Predictions.from_lists(
        {query_id: [(float(s), float(e), score) for s, e, score in filed[query_id]] for query_id in order}
    )
    return World(Annotations.from_rows(rows), predictions, duration, references, filed)


class Slow:
    """The definitions once more, one moment at a time and in exact numbers."""

    @staticmethod
    def iou(a: Moment, b: Moment) -> Fraction:
        """Closer Look, section 3.2: intersection over union; an empty or swapped moment overlaps nothing."""
        if a[1] <= a[0] or b[1] <= b[0]:
            return Fraction(0)
        overlap = min(a[1], b[1]) - max(a[0], b[0])
        if overlap <= 0:
            return Fraction(0)
        return overlap / ((a[1] - a[0]) + (b[1] - b[0]) - overlap)

    @staticmethod
    def region_iou(a: Moment, region: list[Moment]) -> Fraction:
        """IoU with the union of moments as sets of points: cut at every end, look at each piece's middle."""
        cuts = sorted({t for moment in [a, *region] for t in moment})
        both = either = Fraction(0)
        for low, high in pairwise(cuts):
            middle = (low + high) / 2
            inside_a = a[0] < middle < a[1]
            inside_region = any(start < middle < end for start, end in region)
            both += (high - low) * (inside_a and inside_region)
            either += (high - low) * (inside_a or inside_region)
        return both / either if either else Fraction(0)

    @staticmethod
    def pooled(answers: list[Moment], references: list[Moment]) -> Fraction:
        """UniTime's convention: overlaps of all pairs over all lengths less these (references.py, 'pooled')."""
        overlap = sum(
            (max(min(a[1], r[1]) - max(a[0], r[0]), Fraction(0)) for a in answers for r in references), Fraction(0)
        )
        whole = sum((e - s for s, e in [*answers, *references]), Fraction(0)) - overlap
        return overlap / whole if whole > 0 else Fraction(0)

    @classmethod
    def representative(cls, references: list[Moment]) -> int:
        """Hidden Challenges, section 6: largest mean IoU with the others, the first on a tie."""
        if len(references) == 1:
            return 0
        means = [
            sum((cls.iou(r, other) for j, other in enumerate(references) if j != i), Fraction(0))
            / (len(references) - 1)
            for i, r in enumerate(references)
        ]
        return means.index(max(means))

    @classmethod
    def relevances(cls, answers: list[Moment], references: list[Moment], rule: str) -> list[list[Fraction]]:
        """Relevance r(1), r(2), ... of ranked answers: one list a unit of judgement (several under 'rows')."""
        return cls._relevances(tuple(answers), tuple(references), rule)

    @classmethod
    @functools.cache  # measures, comparisons and tolerances ask for the same
    def _relevances(
        cls, answers: tuple[Moment, ...], references: tuple[Moment, ...], rule: str
    ) -> list[list[Fraction]]:
        if rule == "rows":
            return [[cls.iou(a, r) for a in answers] for r in references]
        if rule == "pooled":
            return [[cls.pooled(answers, references)]] if answers else [[]]
        if rule == "merged":
            return [[cls.region_iou(a, references) for a in answers]]
        if rule == "first":
            references = references[:1]
        elif rule == "representative":
            references = [references[cls.representative(references)]]
        return [[max(cls.iou(a, r) for r in references) for a in answers]]

    @staticmethod
    def reaches(iou: Fraction, threshold: str, comparison: str) -> bool:
        """Whether an IoU reaches a threshold, both exact; the threshold as decimal text."""
        return iou > Fraction(threshold) if comparison == ">" else iou >= Fraction(threshold)

    @staticmethod
    def best(relevances: list[Fraction], k: int) -> Fraction:
        """AxIoU paper, eq. 3: best relevance among the first k; a short list keeps its last best."""
        return max(relevances[:k], default=Fraction(0))


@pytest.fixture(scope="session")
def demo_run(once):
    """Folder in which `truemoment demo --videos 400 --no-open` was run: truemoment-demo, and printed.txt."""

    def fill(folder):
        printed, errors = io.StringIO(), io.StringIO()
        with contextlib.chdir(folder), contextlib.redirect_stdout(printed), contextlib.redirect_stderr(errors):
            status = run(["demo", "--videos", "400", "--no-open"])
        assert (status, errors.getvalue()) == (0, "this takes about 10 seconds\n")
        (folder / "printed.txt").write_text(printed.getvalue(), encoding="utf-8")

    return once("demo", fill)


@pytest.fixture
def few_floors(monkeypatch):
    """Leave out the floors that take seconds."""
    monkeypatch.setattr("truemoment.baselines.floors.FLOORS", ("predict-all", "bias-based", "uniform"))


@pytest.fixture(scope="module")
def quick_networks(run_folder):
    """Train the networks of floors for a few steps, for a module that does not look at how well they guess."""
    with quick.quick_networks(run_folder / "quick-networks"):
        yield


@pytest.fixture(scope="session")
def empty_pictures():
    """Give a context in which figures are built but saved as empty pictures: drawing takes most of a page's time."""
    return quick.empty_pictures


@pytest.fixture
def undrawn(empty_pictures):
    """Save figures as empty pictures, in a test that does not look at them."""
    with empty_pictures():
        yield


@pytest.fixture(scope="session")
def reproduce_once(once, data_dir):
    """Give a `reproduce` that computes a table of the real files once a run, if its other arguments are the default."""
    from truemoment.reproduction import Reproduced, get_table, reproduce

    decimals = {"published", "printed", "tolerance"}

    def row_of(fields):
        return Reproduced(**{k: Decimal(v) if k in decimals and v is not None else v for k, v in fields.items()})

    def compute(table, data, rng=None, *, runs=100, engine="lexicon", **more):
        generator = np.random.default_rng(0)
        is_default = rng is None or rng.bit_generator.state == generator.bit_generator.state
        if not (is_default and (runs, engine) == (100, "lexicon") and Path(data).samefile(data_dir)):
            return reproduce(table, data, rng, runs=runs, engine=engine, **more)
        table = get_table(table) if isinstance(table, str) else table

        def fill(folder):
            rows = [dataclasses.asdict(row) for row in reproduce(table, data_dir)]
            (folder / "rows.json").write_text(json.dumps(rows, default=str), encoding="utf-8")

        return [row_of(row) for row in json.loads((once(f"table-{table.name}", fill) / "rows.json").read_text("utf-8"))]

    return compute


@pytest.fixture(scope="session")
def world():
    """Give the maker of random worlds: world(seed)."""
    return make_world


@pytest.fixture(scope="session")
def slow():
    """Give the slow reference arithmetic."""
    return Slow


@pytest.fixture(scope="session")
def agrees():
    """Give the comparison of Scores with a slow per-query statistic."""

    def check(scores, measure: str, expected: dict[str, tuple[Fraction | float, int]]) -> None:
        """`expected`: numerator and weight by query id. 1e-12 is for sums of a few correctly rounded quotients."""
        row = scores.row(measure)
        assert scores.query_id.tolist() == list(expected)
        assert scores.weight[row].tolist() == [weight for _, weight in expected.values()]
        numerators = [float(numerator) for numerator, _ in expected.values()]
        assert scores.numerator[row].tolist() == pytest.approx(numerators, rel=0, abs=1e-12)
        total = sum(weight for _, weight in expected.values())
        exact = float(sum(Fraction(numerator) for numerator, _ in expected.values()) / total) if total else math.nan
        assert scores.value(measure) == pytest.approx(exact, rel=0, abs=1e-12, nan_ok=True)

    return check


@pytest.fixture(scope="session")
def one_video():
    """Give a maker of one-video worlds: references by query, answers by query, duration."""

    def make(
        references: dict[str, list[tuple[float, float]]],
        answers: dict[str, list[tuple[float, ...]]],
        *,
        duration_s: float = 40.0,
    ) -> tuple[Annotations, Predictions]:
        rows = [
            (query_id, "v", duration_s, f"sentence of {query_id}", start, end)
            for query_id, moments in references.items()
            for start, end in moments
        ]
        return Annotations.from_rows(rows), Predictions.from_lists(answers)

    return make


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the real data; tests that need it are skipped where it is not there."""
    given = os.environ.get("TRUEMOMENT_DATA")
    folder = Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set TRUEMOMENT_DATA to the folder that holds one folder a dataset")
    return folder


@pytest.fixture(scope="session")
def no_cluster():
    """Ray is installed and knows no cluster and no token before the first one; it reads its token once a process.

    Importing it here would be before its settings.
    """
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed")
    with pytest.MonkeyPatch.context() as patched:
        for name in ("RAY_ADDRESS", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_AUTH_MODE"):
            patched.delenv(name, raising=False)
        yield


@pytest.fixture(scope="session")
def colours():
    """Give the module of an encoder that sees the mean colour; worker processes can import it too."""
    folder = str(Path(__file__).parent / "modules")
    sys.path.insert(0, folder)
    yield importlib.import_module("colours_of_tests")
    sys.path.remove(folder)


@pytest.fixture(scope="session")
def paint():
    """Give a maker of films: paint(path, [(colour, seconds), ...])."""
    av = pytest.importorskip("av")

    def make(path, shots, fps=5):
        with av.open(str(path), "w") as container:
            stream = container.add_stream("libx264", rate=fps, options={"preset": "ultrafast", "crf": "10"})
            stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
            stream.codec_context.thread_count = 1  # pictures are small: threads would take most of the time
            for colour, seconds in shots:
                pixels = np.full((48, 64, 3), colour, dtype=np.uint8)
                for _ in range(round(seconds * fps)):
                    container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
            container.mux(stream.encode(None))
        return path

    return make


@pytest.fixture(scope="session")
def painted(once, paint):
    """Three films, made once a run; tests get copies."""
    red, green, blue, grey = (200, 30, 30), (30, 200, 30), (30, 30, 200), (110, 110, 110)

    def fill(folder):
        paint(folder / "a.mp4", [(grey, 20), (red, 8), (blue, 12)])
        paint(folder / "b.mp4", [(green, 10), (blue, 30)])
        paint(folder / "c.mp4", [(blue, 4), (grey, 30), (red, 8), (green, 18)])

    return once("painted", fill)


@pytest.fixture
def films(tmp_path, painted):
    """Three films: two of them show red, 8 s long."""
    return Path(shutil.copytree(painted, tmp_path / "films"))


@pytest.fixture(scope="session")
def painted_index(once, painted, colours):
    """An index of the three films, at two frames a second by mean colours, made once a run; tests get copies."""
    from truemoment.searching.building import build_index
    from truemoment.searching.layout import Settings, default_proposals
    from truemoment.searching.writing import IndexWriter, list_videos

    known = {"model": "colours", "encoder": "colours", "fingerprint": "c01075c01075c010", "n_dimensions": 3}

    def fill(folder):
        with IndexWriter(folder / "index", Settings(**known, fps=2.0, proposals=default_proposals(2.0))) as writer:
            build_index(writer, list_videos([painted]).videos, colours.ColourLoader("colours"))

    return once("painted-index", fill) / "index"


@pytest.fixture
def copy_index(tmp_path, painted_index, painted, films):
    """Copy this index for the films of a test: copy_index(name) -> its folder in that of the test."""

    def copied(name):
        folder = Path(shutil.copytree(painted_index, tmp_path / name))
        for file in folder.glob("videos/*/about.json"):
            file.write_text(file.read_text().replace(str(painted.resolve()), str(films.resolve())))
        return folder

    return copied
