"""truemoment meta power: from files to a planning table, and what is refused."""

import json

import numpy as np
import pytest


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Eighty videos of two queries, and three prediction files that answer some 80, 60 and 40 % rightly."""
    monkeypatch.chdir(tmp_path)
    names = [f"v{i}#{k}" for i in range(80) for k in range(2)]
    rows = [
        {"video_id": name.split("#")[0], "sentence": f"a door opens {name}", "duration_s": 40, "moments": [[10, 20]]}
        for name in names
    ]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    rng = np.random.default_rng(0)
    for name, share in (("a", 0.8), ("b", 0.6), ("c", 0.4)):
        moments = [[10, 20, 1.0] if right else [30, 40, 1.0] for right in rng.random(160) < share]
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(
                json.dumps({"query_id": query_id, "moments": [m]}) + "\n"
                for query_id, m in zip(names, moments, strict=True)
            )
        )
    return tmp_path


WORDS = ("meta", "power", "a.jsonl", "b.jsonl", "c.jsonl", "--annotations", "mine.jsonl", "--measures", "R@1,IoU=0.5")


@pytest.mark.usefixtures("undrawn")
def test_power_is_told_and_written(call, files):
    status, out, err = call(
        *WORDS,
        "--sizes",
        "80,120",
        "--comparisons",
        "3",
        "--json",
        "power.json",
        "--figures",
        "figures",
        "--html",
        "p.html",
    )
    assert (status, err) == (0, "")
    assert "On all 160 queries (80 videos), measures separate" in out
    assert "corrected for 3 comparisons" in " ".join(out.split())
    document = json.loads((files / "power.json").read_text())
    study = document["studies"]["power"]
    assert [size["asked"] for size in study["sizes"]] == [80, 120, 160]
    assert study["comparisons"] == 3
    planning = study["measures"][0]["planning"]
    assert [row["difference"] for row in planning] == [0.01, 0.02, 0.03, 0.05, 0.1]
    assert planning[0]["typical"] == pytest.approx(100 * planning[4]["typical"])  # n goes with 1 over its square
    assert sorted(path.name for path in (files / "figures").iterdir()) == [
        *("power-separated.pdf", "power-separated.png", "power-separated.svg")
    ]
    assert "Planning: queries that show a true difference" in (files / "p.html").read_text()


@pytest.mark.usefixtures("files")
def test_single_queries_can_be_taken_for_independent(call):
    status, out, _ = call(*WORDS, "--by", "query", "--repetitions", "5", "--json", "-")
    assert status == 0
    assert json.loads(out)["studies"]["power"]["unit"] == "query"


@pytest.mark.usefixtures("files")
def test_sizes_of_too_few_videos_are_refused(fails):
    assert fails(2, *WORDS, "--sizes", "40") == (
        "got subsets of 40 queries, which are of 20 videos; expected 30 videos or more (60 queries): the test is an "
        "approximation"
    )


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("option", ["--level", "--power"])
def test_shares_out_of_range_are_refused(fails, option):
    assert fails(2, *WORDS, option, "1.5") == f"{option}: got 1.5, expected more than 0 and less than 1"


@pytest.mark.usefixtures("files")
def test_sizes_that_are_no_numbers_are_refused(fails):
    assert "expected whole numbers as in 50,100,200" in fails(2, *WORDS, "--sizes", "many")
