"""Run folders that are damaged: one clear line that names the file, or a run that is skipped; never a traceback."""

import json
import os

import pytest

from truemoment.cli import run

ANSWERS = [("x#0", [[0.0, 10.0]]), ("x#1", [[0.0, 10.0]])]
REQUEST, RESULT, PREDICTIONS = "run.json", "result.json", "test-iid.jsonl"


def write(name, content):
    def damage(folder):
        (folder / name).write_bytes(content)

    return damage


def cut(name):
    def damage(folder):
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: len(content) // 2])

    return damage


def replace(name, make):
    def damage(folder):
        (folder / name).unlink()
        make(folder / name)

    return damage


def request(**changes):
    def damage(folder):
        document = json.loads((folder / REQUEST).read_text())
        (folder / REQUEST).write_text(json.dumps(document | changes))

    return damage


def figure(value):
    def damage(folder):
        document = json.loads((folder / RESULT).read_text())
        document["figures"][0]["value"] = value
        (folder / RESULT).write_text(json.dumps(document))

    return damage


def itself(path):
    path.symlink_to(path.name)


REFUSED = {
    "request cut off": (cut(REQUEST), "run.json:1: input data was truncated"),
    "request of another kind": (write(REQUEST, b"[]"), "run.json:1: got a list"),
    "request nested deep": (write(REQUEST, b'{"recipe":' * 5000), "run.json:1: "),
    "request in other bytes": (write(REQUEST, b'{"seed": "\xff"}'), "run.json:1: "),
    "request is a folder": (replace(REQUEST, os.mkdir), "run.json: is a folder"),
    "request is a pipe": (replace(REQUEST, os.mkfifo), "run.json: is a pipe, expected a file"),  # it waited for ever
    "request is a link to itself": (replace(REQUEST, itself), "contains no run"),
    "seed in words": (request(seed="one"), "field seed: got text"),
    "schema of the future": (request(schema="truemoment/run/9"), "field schema"),
    "result cut off": (cut(RESULT), "result.json:1: input data was truncated"),
    "result is a folder": (replace(RESULT, os.mkdir), "contains no run with run.json and result.json; 1 unfinished"),
    "a figure that is none": (figure("abc"), "field figures.value: got 'abc' for dR@1,IoU=0.5 on test-iid"),
    "a figure without end": (figure("1e999"), "expected a number from 0 to 1"),
    "a figure of NaN": (figure("nan"), "expected a number from 0 to 1"),
    "a figure in percent": (figure("41.91"), "expected a number from 0 to 1"),
    "a figure of type number": (figure(0.4), "field figures[0].value: got a number, expected text"),
}

REFUSED_PREDICTIONS = {
    "a link": (replace(PREDICTIONS, itself), "test-iid.jsonl: is a link, expected a file or folder that TrueMoment"),
    "cut off": (write(PREDICTIONS, b'{"query_id": "x#0", "moments": [[0,'), "input data was truncated"),
    "empty": (write(PREDICTIONS, b""), "is empty"),
    "NaN": (write(PREDICTIONS, b'{"query_id": "x#0", "moments": [[NaN, 10]]}'), "got NaN, expected a number"),
    "huge": (write(PREDICTIONS, b'{"query_id": "x#0", "moments": [[0, 1e308]]}'), "expected seconds"),
    "of other queries": (
        write(PREDICTIONS, b'{"query_id": "zz#0", "moments": [[0, 1]]}'),
        "test-iid.jsonl: answers none of the 2 queries of charades-cd/test-iid",
    ),
}


@pytest.fixture
def reproduced(publish, small_data, trained, tmp_path, capsys):
    """Damage a run of DRN and set it beside one published figure: status, standard output and error, page."""
    publish("closer_look_table2.csv", ("Table 2", "Charades-CD", "test-iid", "DRN", "dR@1,IoU=0.5", "41.91", "percent"))

    def made(damage, answers=()):
        damage(trained("drn", "drn", figures=[("dR@1,IoU=0.5", "0.4191")], answers=answers))
        page = tmp_path / "page.html"
        words = ["reproduce", "closer-look-2", "--data-dir", small_data, "--runs", trained.folder, "--html", page]
        status = run(list(map(str, words)))
        return status, *capsys.readouterr(), page

    return made


@pytest.mark.parametrize("case", [*REFUSED, *(f"predictions: {name}" for name in REFUSED_PREDICTIONS)])
def test_a_damaged_run_is_one_line(reproduced, case):
    name = case.removeprefix("predictions: ")
    damage, expected = REFUSED[name] if name == case else REFUSED_PREDICTIONS[name]
    status, out, err, page = reproduced(damage, () if name == case else ANSWERS)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("truemoment: ")
    assert expected in err
    assert not page.exists()


@pytest.mark.parametrize(
    "damage",
    [
        request(features_name="\x1b[31mred\n"),
        request(seed=10**30),
        replace(PREDICTIONS, os.mkfifo),
        lambda folder: (folder / "again").symlink_to(folder.parent),
    ],
)
def test_what_is_odd_and_harmless(reproduced, damage):
    status, out, err, page = reproduced(damage, ANSWERS[:1])
    assert (status in (0, 1), "\x1b" in out, err, page.is_file()) == (True, False, "", True)


def test_queries_without_predictions_are_counted(reproduced):
    status, out, _, _ = reproduced(lambda _: None, ANSWERS[:1])
    assert status == 1
    assert "no predictions for 1 query" in " ".join(out.split())
