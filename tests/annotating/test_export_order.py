"""``annotate export`` writes a new dataset in random order, and one that is annotated again in its own."""

import json
from dataclasses import replace

import numpy as np
import pytest

from truemoment.cli import run
from truemoment.data.datasets import own
from truemoment.data.datasets.answer_file import read_answers
from truemoment.data.language.paragraphs import order_of_starts

from .conftest import annotations_of
from .test_server import answer_all

N_VIDEOS, PER_VIDEO = 12, 5


def sentences():
    """Queries in the order of what happens, as somebody writes them who watches a video."""
    queries = annotations_of(N_VIDEOS, PER_VIDEO)
    nowhere = np.full(len(queries), np.nan)
    return replace(queries, start_s=nowhere, end_s=nowhere)


def answered(served, queries):
    """Let a person mark sentence k of each video from 5 k seconds on; return the folder of the study."""
    study = served(queries, people=1, per_query=1, practice=0)

    def mark(task):
        first = 50 * int(task["sentence"].split()[-1])  # 10 frames a second
        return {"moments": [{"first": first, "last": first + 19}]}

    answer_all(study.client("w01"), mark)
    return study.folder


def export(study, out, *options):
    assert run(["annotate", "export", str(study), "-o", str(out), *options]) == 0
    return {path.name: path.read_text() for path in out.iterdir()}


def test_a_new_dataset_is_in_random_order_with_ids_that_do_not_reveal_it(served, tmp_path, capsys):
    study = answered(served, sentences())
    files = export(study, tmp_path / "random")
    assert "order: a video's queries are in random order" in capsys.readouterr().out
    assert json.loads(files["datasheet.json"])["order"] == "random"
    assert "Order: a video's queries are in random order" in files["datasheet.md"]
    assert export(study, tmp_path / "again") == files
    as_asked = export(study, tmp_path / "file", "--order", "file")
    assert json.loads(as_asked["datasheet.json"])["order"] == "file"

    new, old = (own.read(tmp_path / name / "annotations.jsonl") for name in ("random", "file"))
    assert order_of_starts(old).later == 1  # so they are marked
    assert not order_of_starts(new).informs
    assert not order_of_starts(new.in_order(sorted(new.query_id))).informs
    assert set(old.query_id) == {f"v{v}#{k}" for v in range(N_VIDEOS) for k in range(PER_VIDEO)}
    assert set(old.query_id).isdisjoint(new.query_id)
    rows = [sorted(zip(of.video_id, of.sentence, of.start_s, of.end_s, strict=True)) for of in (new, old)]
    assert rows[0] == rows[1]
    # Every file has the same ids in the same order.
    answers = read_answers(tmp_path / "random" / "answers.jsonl").answers
    assert [of.query_id for of in answers] == new.query_id.tolist()
    lines = files["hidden-challenges.csv"].splitlines()[1:]
    assert [line.split(",")[0] for line in lines] == new.query_id.tolist()
    assert not any(f'{query_id}"' in text for query_id in old.query_id for text in files.values())


def test_queries_that_had_moments_keep_their_ids(served, tmp_path):
    queries = annotations_of(2, 3)
    study = answered(served, queries)
    export(study, tmp_path / "out")
    assert own.read(tmp_path / "out" / "annotations.jsonl").query_id.tolist() == queries.query_id.tolist()
    export(study, tmp_path / "random", "--order", "random")
    assert set(own.read(tmp_path / "random" / "annotations.jsonl").query_id).isdisjoint(queries.query_id)


@pytest.mark.parametrize("order", ["start", "", "Random", "file,random", "\x1b[31m"])
def test_another_order_is_refused_in_one_line(served, tmp_path, capsys, order):
    study = served(annotations_of(1, 1), people=1, per_query=1, practice=0)
    assert run(["annotate", "export", str(study.folder), "-o", str(tmp_path / "out"), "--order", order]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1
    assert "'--order'" in printed.err
    assert "'file', 'random'" in printed.err
    assert "\x1b" not in printed.err
    assert not (tmp_path / "out").exists()
