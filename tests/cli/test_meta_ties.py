"""truemoment meta ties: from files to sentences, JSON, figures and a page."""

import json

import pytest


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Twenty queries, one a video, and three prediction files that answer 20, 15 and 10 of them rightly."""
    monkeypatch.chdir(tmp_path)
    rows = [
        {"video_id": f"v{i}", "sentence": "a door opens", "duration_s": 40, "moments": [[10, 20]]} for i in range(20)
    ]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name, right in (("a", 20), ("b", 15), ("c", 10)):
        moments = [[10, 20, 1.0] if i < right else [30, 40, 1.0] for i in range(20)]
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(json.dumps({"query_id": f"v{i}#0", "moments": [m]}) + "\n" for i, m in enumerate(moments))
        )
    return tmp_path


@pytest.mark.usefixtures("undrawn")
def test_ties_are_told_and_written(call, files):
    status, out, err = call(
        *("meta", "ties", "a.jsonl", "b.jsonl", "c.jsonl", "--annotations", "mine.jsonl"),
        *("--measures", "R@1,IoU=0.5", "--json", "ties.json", "--figures", "figures", "--html", "ties.html"),
    )
    assert (status, err) == (0, "")
    # All three are right on the first ten queries; the first alone on the last five.
    assert "All systems tie on 50.0 % (R@1,IoU=0.5) of the queries." in " ".join(out.split())
    document = json.loads((files / "ties.json").read_text())
    entry = document["studies"]["ties"]["measures"][0]
    assert (entry["all_tied"], entry["at_one"], entry["at_zero"], entry["n_queries"]) == (0.5, 0.5, 0, 20)
    # Of three pairs all tie on ten queries, and one on the other ten.
    assert entry["pairs_tied"] == pytest.approx((10 + 10 / 3) / 20)
    assert sorted(path.name for path in (files / "figures").iterdir()) == [
        f"ties-ratio.{kind}" for kind in ("pdf", "png", "svg")
    ]
    assert "Queries on which all systems tie" in (files / "ties.html").read_text()


@pytest.mark.usefixtures("files")
def test_one_system_is_refused(fails):
    assert "expected two or more" in fails(2, "meta", "ties", "a.jsonl", "--annotations", "mine.jsonl")
