"""Hidden Challenges again: twenty simulated people answer through HTTP, and ``humans`` reads what is exported."""

import asyncio
import contextlib
import json
from collections import Counter
from itertools import pairwise

import httpx
import msgspec
import pytest

from truemoment.data.datasets import load_annotations
from truemoment.data.datasets.answer_file import read_answers
from truemoment.media.video.prepared import FRAMES, VideoFrames
from truemoment.web.annotating.exporting import export_study
from truemoment.web.annotating.store import connect
from truemoment.web.pages.sessions import cookie_name

from .conftest import BASE, OWN, annotations_of
from .test_server import answer_all


def humans(capsys, *words):
    from truemoment.cli import run

    assert run(["humans", *map(str, words), "--json", "-", "--quiet"]) == 0
    return json.loads(capsys.readouterr().out)


def exported(study, out, **how):
    with contextlib.closing(connect(study.study.database, read_only=True)) as connection:
        return export_study(study.study, connection, out, **how)


def test_presence_and_several_moments_reach_humans(served, tmp_path, capsys):
    study = served(annotations_of(4, 1), people=3, per_query=3, practice=0)
    spans = {"w01": (10, 29), "w02": (10, 29), "w03": (20, 39)}  # 1 to 3 s, 1 to 3 s, 2 to 4 s

    def answer(name):
        first, last = spans[name]

        def of(task):
            if task["video"] == 1:  # all say it is not there
                return {"verdict": "absent", "moments": []}
            if task["video"] == 2 and name == "w03":  # one of three does
                return {"verdict": "absent", "moments": []}
            moments = [{"first": first, "last": last}]
            if task["video"] == 3:
                moments.append({"first": 100, "last": 119})
            return {"moments": moments}

        return of

    for name in spans:
        answer_all(study.client(name), answer(name))
    found = exported(study, tmp_path / "out")
    assert dict(found.agreement.verdicts) == {"absent": 4, "marked": 8}
    assert found.not_single == 1
    lines = [json.loads(line) for line in (tmp_path / "out" / "annotations.jsonl").read_text().splitlines()]
    assert [len(line["moments"]) for line in lines] == [0, 2, 6, 3]
    document = humans(capsys, "--annotations", tmp_path / "out" / "answers.jsonl")
    answers = document["answers"]
    assert answers["several_moments"] == 3
    # Pairs: video 1 all agree, video 2 one of three, videos 3 and 4 all.
    assert answers["presence"]["agreement"]["value"] == pytest.approx((1 + 1 / 3 + 1 + 1) / 4)
    assert (answers["presence"]["disputed"], answers["presence"]["all_absent"]) == (1, 1)
    # SetIoU: video 2 one pair 1; video 3 (1, 3/5, 3/5); video 4 (1, 1/3, 1/3).
    expected = (1 + (1 + 0.6 + 0.6) / 3 + (1 + 1 / 3 + 1 / 3) / 3) / 3
    assert answers["set_iou"]["mean"]["value"] == pytest.approx(expected)
    # alpha by the formula's slow form: 1 - observed / expected disagreement over pairs
    values = [[0, 0, 0], [1, 1, 0], [1, 1, 1], [1, 1, 1]]
    observed = sum(sum(a != b for a in of for b in of) / (len(of) - 1) for of in values) / 12
    flat = [value for of in values for value in of]
    by_chance = sum(a != b for a in flat for b in flat) / (12 * 11)
    assert answers["presence"]["alpha"]["value"] == pytest.approx(1 - observed / by_chance)
    assert document["annotators"]["left_out"] == {"several moments of one annotator": 1}
    for rule, counts in (("longest", [0, 2, 3, 3]), ("hull", [0, 2, 3, 3])):
        exported(study, tmp_path / rule, moments=rule)
        lines = [json.loads(line) for line in (tmp_path / rule / "annotations.jsonl").read_text().splitlines()]
        assert [len(line["moments"]) for line in lines] == counts
    assert lines[2]["moments"][0] == [1.0, 12.0]  # the hull of 1 to 3 and 10 to 12 s


def test_verify_reports_false_fits(served, tmp_path):
    study = served(annotations_of(12, 2), people=2, per_query=2, practice=0, task="verify", controls=(0, 0, 0.2))
    for name in ("w01", "w02"):
        seen = answer_all(study.client(name), lambda _: {"verdict": "fits", "moments": []})
        assert all(len(task["shown"]) == 2 for task in seen)
    found = exported(study, tmp_path / "out")
    sheet = json.loads((tmp_path / "out" / "datasheet.json").read_text())
    assert sheet["false_fits"]["fits"] == sheet["false_fits"]["false_fits"] == 1.0
    assert sheet["false_fits"]["n_controls"] == 2 * 2 * round(0.2 * 24)  # moved and other, for two people
    assert found.files["verdicts.jsonl"] == 24


def marked_by_people(data_dir):
    """Return the re-annotations of Charades-STA's test split: per query, what each worker marked, in seconds."""
    annotations = load_annotations("human-charades", "test", data_dir=data_dir)
    return {
        annotations.query_id[low]: list(
            zip(annotations.start_s[low:high].tolist(), annotations.end_s[low:high].tolist(), strict=True)
        )
        for low, high in pairwise(annotations.offsets.tolist())
    }


@pytest.mark.thorough
def test_hidden_challenges_end_to_end(served, data_dir, tmp_path, capsys):
    """3,720 queries are dealt to 20 people, who answer the 1,000 that were annotated again as their workers did."""
    marked = marked_by_people(data_dir)
    queries = load_annotations("charades-sta", "test", data_dir=data_dir)
    study = served(queries, people=20, per_query=5, practice=0)
    frames_at = _prepare(study, queries)
    tasks = study.server.store.read(
        lambda connection: connection.execute(
            "SELECT t.id, p.name, q.query_id, q.video FROM tasks t JOIN people p ON p.id = t.person "
            "JOIN queries q ON q.id = t.query ORDER BY t.id"
        ).fetchall()
    )
    assert len(tasks) == 3720 * 5
    given = Counter()
    requests = {name: [] for name in study.tokens}
    for row in tasks:
        if row["query_id"] in marked:
            start_s, end_s = marked[row["query_id"]][given[row["query_id"]]]
            given[row["query_id"]] += 1
            first, last = frames_at(row["video"], start_s, end_s)
            body = {"key": f"simulated-{row['id']}", "base": 0, "verdict": "marked", "submit": True}
            requests[row["name"]].append((row["id"], body | {"moments": [{"first": first, "last": last}]}))
    asyncio.run(_answer(study, requests))
    n_answers = sum(map(len, requests.values()))
    assert n_answers == 1000 * 5
    exported(study, tmp_path / "out")
    answers = read_answers(tmp_path / "out" / "answers.jsonl")
    assert len(answers.answers) == n_answers
    document = humans(
        capsys,
        "--annotations",
        tmp_path / "out" / "answers.jsonl",
        *("--official", "charades-sta/test", "--data-dir", data_dir, "--measures", "R@1,IoU=0.5", "--resamples", "100"),
    )
    representative = [of for of in document["humans"] if of["way"] == "official" and of["person"] == "by agreement"]
    value = next(of for of in representative if of["rank"] == 1)["measures"][0]["value"]
    reference = humans(
        capsys,
        *("--dataset", "human-charades", "--split", "test", "--data-dir", data_dir),
        *("--measures", "R@1,IoU=0.5", "--resamples", "100"),
    )
    same = [of for of in reference["humans"] if of["way"] == "official" and of["person"] == "by agreement"]
    assert value == pytest.approx(next(of for of in same if of["rank"] == 1)["measures"][0]["value"], abs=0.002)
    assert round(100 * value, 1) == 52.1  # Hidden Challenges, Table 1: the representative human


async def _answer(study, requests):
    """Let all people answer at the same time, each one task after another."""
    cookie = cookie_name(study.study.settings().name)

    async def person(name, tasks):
        transport = httpx.ASGITransport(app=study.server.app)
        cookies = {cookie: study.tokens[name]}
        async with httpx.AsyncClient(transport=transport, base_url=BASE, headers=OWN, cookies=cookies) as client:
            for task, body in tasks:
                found = await client.put(f"/api/tasks/{task}/answer", json=body)
                assert found.status_code == 200, found.text

    await asyncio.gather(*(person(name, tasks) for name, tasks in requests.items()))


def _prepare(study, queries):
    """Give each video 1,000 frames a second of its real duration; return the function to frames."""
    duration = dict(zip(queries.video_id.tolist(), queries.duration_s.tolist(), strict=True))
    tables = {}

    def write(connection):
        for row in connection.execute("SELECT id, video_id FROM videos").fetchall():
            path = study.study.media(row["id"]) / FRAMES
            frames = msgspec.json.decode(path.content(), type=VideoFrames)
            count = max(1, round(1000 * duration[row["video_id"]]))
            frames.tick, frames.runs, frames.end = (1, 1000), [(0, 1, count)], count
            path.path.write_bytes(msgspec.json.encode(frames))
            values = (count, count / 1000, row["id"])
            connection.execute("UPDATE videos SET frames = ?, duration_s = ? WHERE id = ?", values)
            tables[row["id"]] = count

    study.server.store.write(write)

    def frames_at(video, start_s, end_s):
        first = min(max(0, round(1000 * start_s)), tables[video] - 1)
        return first, min(max(first, round(1000 * end_s) - 1), tables[video] - 1)

    return frames_at
