"""Parts of other packages are found by entry points; ours come first, and what cannot be loaded says so in one line."""

import sys

import pytest

from truemoment.base.boundary.caching import NO_CACHE, Cache
from truemoment.base.errors import UsageError
from truemoment.base.records import Annotations
from truemoment.base.registry import Registry
from truemoment.baselines import BASELINES, Baseline
from truemoment.baselines.floors import Floor, Setting
from truemoment.cli import run
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install a package, as pip does: its modules, and what it says of its entry points."""

    def install(entries, modules):
        about = tmp_path / "theirs-1.2.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.2\n")
        (about / "entry_points.txt").write_text(entries)
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text)
            monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.syspath_prepend(str(tmp_path))

    return install


def numbers():
    return Registry[int]("numbers", {"one": 1}, int)


def test_ours_come_first_and_theirs_after(installed):
    installed("[truemoment.numbers]\ntwo = numbers_of_theirs:TWO\n", {"numbers_of_theirs": "TWO = 2\n"})
    found = numbers()
    assert (dict(found), len(found), "two" in found, "three" in found) == ({"one": 1, "two": 2}, 2, True, False)


def test_a_name_of_ours_needs_no_look_at_others(monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: pytest.fail("looked"))
    assert numbers()["one"] == 1


@pytest.mark.parametrize(
    ("entry", "text", "says"),
    [
        (
            "one = broken_one:X",
            "X = 1",
            "package theirs 1.2 adds 'one' to numbers, whose name is taken; rename it there",
        ),
        ("two = broken_two:X", "raise OSError('no disk')", r"which cannot be loaded \(OSError: no disk\)"),
        ("two = ends_well:X", "raise SystemExit(0)", r"which cannot be loaded \(SystemExit: 0\)"),
        (
            "two = ends_anyhow:X",
            "class Own(BaseException): ...\nraise Own('gone')",
            r"which cannot be loaded \(Own: gone\)",
        ),
        ("two = broken_three:X", "", r"which cannot be loaded \(AttributeError"),
        ("two = broken_four:X", "X = '2'", "but broken_four:X is of type str, expected int"),
    ],
)
def test_what_cannot_be_used_says_whose_it_is(installed, entry, text, says):
    module = entry.split(" = ")[1].split(":")[0]
    installed(f"[truemoment.numbers]\n{entry}\n", {module: text})
    with pytest.raises(UsageError, match=says):
        dict(numbers())


FLOOR = """
from truemoment.baselines import Baseline, PredictAll
FLOOR = Baseline("floor", "the whole video, as they see it", lambda _: PredictAll())
"""


def test_answers_of_their_floors_are_not_kept(installed, monkeypatch, tmp_path):
    """The cache knows when our code changes, not when theirs does."""
    installed("[truemoment.baselines]\ntheir-floor = their_floor:FLOOR\n", {"their_floor": FLOOR})
    monkeypatch.setitem(vars(BASELINES), "_others", Registry("baselines", BASELINES.own, Baseline)._others)
    annotations = Annotations.from_rows([("q", "v", 30.0, "a door opens", 2.0, 6.0)])
    setting = Setting(annotations, parse_measures("mIoU"), get_protocol("default"), cache=Cache(tmp_path / "cache"))
    ours, theirs = (Floor(name, setting) for name in ("predict-all", "their-floor"))
    assert (ours.cache, theirs.cache) == (setting.cache, NO_CACHE)
    assert [of.answers(annotations)[0][0].end_s.tolist() for of in (ours, theirs)] == [[30.0], [30.0]]


FAILS = """
import json
from truemoment.baselines import Baseline
FAILS = Baseline("fails", "what they did not test", lambda _: json.loads("{"))
"""


def test_a_fault_of_theirs_is_not_called_ours(installed, monkeypatch, tmp_path, capfd):
    installed("[truemoment.baselines]\ntheirs = fails_later:FAILS\n", {"fails_later": FAILS})
    monkeypatch.setitem(vars(BASELINES), "_others", Registry("baselines", BASELINES.own, Baseline)._others)
    queries = tmp_path / "queries.csv"
    queries.write_text("query_id,video_id,duration_s,sentence,start_s,end_s,split\nq,v,30,a door opens,2,6,test\n")
    words = ["baseline", "theirs", "--annotations", str(queries), "--split", "test", "-o", str(tmp_path / "new.jsonl")]
    assert run(words) == 2
    assert capfd.readouterr().err.startswith("truemoment: package theirs 1.2 fails (JSONDecodeError: Expecting ")
    assert not (tmp_path / "new.jsonl").exists()
