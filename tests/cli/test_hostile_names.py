"""Names from outside hold escape codes, marks of direction and line ends: none reaches a terminal, table or page."""

import csv
import json
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from truemoment.studies.compare.comparison import PUBLISHED_COLUMNS

from ..thorough import quick_are

pytestmark = pytest.mark.slow

EVIL = "\x1b[31m\x1b[2J\u202e\u2066\u200b\x9b1m\u2028\nFORGED \r\x07"
ORDINARY = "門 الباب é 👨‍👩‍👧"
FEW = ["--permutations", "99", "--resamples", "200"]


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Annotations, two prediction files, features and published figures, every name of them hostile."""
    monkeypatch.chdir(tmp_path)
    path = Path(f"mine{EVIL}.jsonl".replace("\n", " "))
    rows = []
    for split in ("train", "test"):
        for number in range(12):
            video, start = f"{split}{number // 2}{EVIL}{ORDINARY}", float(2 * number)
            rows.append(
                {
                    "query_id": f"{video}#{number % 2}",
                    "video_id": video,
                    "duration_s": 20 if number == 11 else 40,  # a moment past its end, for datasets check
                    "sentence": f"a door {EVIL}{ORDINARY}",
                    "moments": [[start, start + 5]],
                    "split": f"{split}{EVIL}",
                }
            )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name, first in (("a", 5.0), ("b", 3.0)):
        answers = [
            {"query_id": r["query_id"], "moments": [[r["moments"][0][0], r["moments"][0][0] + first]]}
            for r in rows[12:]
        ]
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers))
    video_ids = np.frombuffer(json.dumps([f"absent{EVIL}", rows[12]["video_id"]]).encode(), dtype=np.uint8)
    np.savez("f.npz", frames=np.ones((80, 4), np.float32), offsets=[0, 40, 80], video_id=video_ids, fps=1.0)
    return path


def refuse_hidden(text):
    hidden = {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {"\n", "\t", "\u200d"}
    assert not hidden
    assert not [line for line in text.splitlines() if line.startswith("FORGED")]


COMMANDS = {
    "datasets check": (["datasets", "check", "MINE"], 1),
    "evaluate": (["evaluate", "a.jsonl", "OWN"], 0),
    "evaluate --json": (["evaluate", "a.jsonl", "OWN", "--json", "-"], 0),
    "compare md": (["compare", f"é{ORDINARY}=a.jsonl", "b.jsonl", "OWN", *FEW, "--table", "md"], 0),
    "audit": (["audit", "a.jsonl", "OWN", *FEW], 0),
    "audit latex": (["audit", "a.jsonl", "OWN", *FEW, "--table", "latex"], 0),
    "bias": (
        ["bias", "--annotations", "MINE", "--permutations", "99", "--html", "page.html", "--figures", "figures"],
        0,
    ),
    "features": (["features", "f.npz", "OWN"], 1),
    "a split that is not there": (["evaluate", "a.jsonl", "--annotations", "MINE", "--split", f"x{EVIL}"], 2),
}


@pytest.mark.parametrize("name", quick_are(COMMANDS.keys() - {"bias"}, list(COMMANDS)))
def test_names_do_not_steer_a_terminal(call, own, name):
    words, expected = COMMANDS[name]
    options = {"MINE": [own], "OWN": ["--annotations", own, "--split", f"test{EVIL}"]}
    status, out, err = call(*(part for word in words for part in options.get(word, [word])))
    assert status == expected, err
    refuse_hidden(out + err)
    assert r"\x1b[31m\x1b[2J\u202e" in (out + err).replace(r"\textbackslash{}", "\\")
    if "md" in name or name == "features":  # a terminal's table may cut a long name
        assert ORDINARY in out
    for path in [*Path().glob("*.html"), *Path().glob("figures/*.svg")]:
        refuse_hidden(path.read_text(encoding="utf-8"))


def test_json_on_standard_output_holds_the_names_as_they_are(call, own):
    status, out, _ = call("datasets", "check", own, "--json", "-", "--quiet")
    assert status == 1
    refuse_hidden(out)
    ids = [name for finding in json.loads(out)["findings"] for name in finding["ids"]]
    assert f"train5{EVIL}{ORDINARY}#1" in ids


@pytest.mark.parametrize("style", ["plain", "md", "latex"])
def test_published_figures_show_no_escape_codes(call, own, style):
    with Path("published.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(PUBLISHED_COLUMNS)
        row = dict.fromkeys(PUBLISHED_COLUMNS, f"{ORDINARY}{EVIL}")
        row |= {"dataset": own.name, "split": f"test{EVIL}", "measure": "R@1,IoU=0.5", "value": "50", "unit": "percent"}
        writer.writerow([row[name] for name in PUBLISHED_COLUMNS])
    options = ["--annotations", own, "--split", f"test{EVIL}", "--published", "published.csv", *FEW]
    status, out, err = call(
        "compare", "a.jsonl", "b.jsonl", *options, *([] if style == "plain" else ["--table", style])
    )
    assert status == 0, err
    refuse_hidden(out + err)
    assert style == "plain" or ORDINARY in out  # a terminal's table may cut a long name
    assert out.count("FORGED") >= 1
