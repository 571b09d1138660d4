"""Long commands write how long they take when their work begins; short ones, faulty ones and quiet ones do not."""

import json
import re
import wave
from pathlib import Path

import click
import pytest
from tests.hostile.every import verbs

from truemoment.cli.expected import expect, expected, left
from truemoment.cli.outputs import status_line


def said(capsys, name, steps=("reading", "fitting"), *, show=True, **options):
    with click.Context(click.Command(name)):
        expect(name, options)
        with status_line(show=show) as on_status:
            for step in steps:
                on_status(step)
    return [line for line in capsys.readouterr().err.replace("\r", "\n").splitlines() if "takes" in line]


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        # docs/how-long.md: 17 s, 86 s and 21 s by the clock, 12 s and 66 s of a processor.
        ("audit", {"dataset": "charades-cd"}, "about 20 seconds; some seconds where the floors"),
        ("audit", {"dataset": "activitynet-cd"}, "about 1 minute; some seconds where the floors"),
        ("compare", {"dataset": "charades-sta"}, "about 20 seconds; some seconds where the floors"),
        ("bias", {"dataset": ("charades-sta",)}, "about 20 seconds"),
        ("resplit", {"dataset": "charades-sta"}, "about 1 minute"),
        ("demo", {"videos": 2000, "searching": False, "collecting": False, "browsing": False}, "about 1 minute"),
    ],
)
def test_a_long_command_says_so_once(capsys, name, options, words):
    (line,) = said(capsys, name, **options)
    assert line.startswith(f"this takes {words}")


def test_an_audit_of_a_model_also_waits_for_the_model(capsys):
    (line,) = said(capsys, "audit", dataset="charades-cd", model="run")
    assert line.endswith("in the cache; and as long as the model answers")


def test_a_command_of_a_group_is_not_the_one_of_the_same_name():
    program, group, demo = (click.Context(click.Command(name)) for name in ("truemoment", "annotate", "demo"))
    group.parent, demo.parent = program, group
    with demo:
        expect("demo", {"out": "lab"})  # it has no options of demo
    assert demo.meta == {}


def test_a_leaderboard_takes_an_audit_a_file(tmp_path):
    (tmp_path / "p.jsonl").write_text("")
    head = "title: t\ndataset: charades-cd\nsplit: test-ood\nsystems:\n"
    systems = "".join(f"  - {{name: {name}, files: p.jsonl, sees_video: true}}\n" for name in "abcde")
    (tmp_path / "leaderboard.yaml").write_text(head + systems)
    folder = {"folder": tmp_path, "data_dir": None}
    with click.Context(click.Command("leaderboard")):
        expect("leaderboard", folder)
        seconds, besides = expected()
    assert "in the cache" in besides
    assert seconds == pytest.approx(17 + 5 * 4.1, rel=0.1)  # docs/how-long.md: the first audit, and the next ones
    (tmp_path / "leaderboard.yaml").write_text(head)
    with click.Context(click.Command("leaderboard")):
        expect("leaderboard", folder)  # the command itself refuses it
        assert expected() is None


def test_a_film_takes_its_length(tmp_path):
    """Two films of half an hour by the header of the first, on two workers; docs/how-long.md: 40 s for an hour."""
    pytest.importorskip("av")
    with wave.open(str(tmp_path / "film.wav"), "wb") as sound:
        sound.setparams((1, 1, 1000, 0, "NONE", ""))
        sound.writeframes(bytes(1800 * 1000))
    films = [{"film": name, "described": name} for name in ("film.wav", "other.wav")]
    (tmp_path / "films.jsonl").write_text("".join(json.dumps(film) + "\n" for film in films))
    program, group, command = (click.Context(click.Command(name)) for name in ("truemoment", "collect", "run"))
    group.parent, command.parent = program, group
    group.info_name = "collect"
    with command:
        expect("run", {"film": None, "films_list": tmp_path / "films.jsonl", "workers": 2})
        assert expected() == (pytest.approx(20), ", and as long as the recogniser hears")
        command.meta.clear()
        expect("run", {"film": str(tmp_path / "none.wav"), "films_list": None, "workers": None})
        assert expected() is None


def test_the_rest_is_as_long_as_what_is_done():
    assert left(2, 30.0, 4) == 60.0
    assert left(0, 30.0, 4) is None
    assert left(3, 3.0, 4) is None


def test_nothing_is_said_of_short_quiet_or_faulty_commands(capsys, tmp_path):
    mine = tmp_path / "mine.jsonl"
    mine.write_text("{}\n" * 100)
    assert said(capsys, "audit", dataset=None, annotations=mine) == []
    assert said(capsys, "evaluate", dataset="charades-cd") == []
    assert said(capsys, "audit", show=False, dataset="charades-cd") == []
    assert said(capsys, "audit", steps=(), dataset="charades-cd") == []
    assert said(capsys, "reproduce", tables=(), data_dir=tmp_path) == []
    assert said(capsys, "reproduce", tables=("nowhere",), data_dir=tmp_path) == []


def test_tables_take_what_their_datasets_do(capsys, tmp_path):
    """docs/how-long.md: a table that trains networks takes longer than all others, and is computed where named."""
    for name in ("charades-sta", "activitynet-captions", "tacos"):
        (tmp_path / name).mkdir()
    (line,) = said(capsys, "reproduce", tables=("blind-beside-published",), data_dir=tmp_path)
    assert line.endswith("about 2 minutes")  # half of its six datasets
    (line,) = said(capsys, "reproduce", tables=(), data_dir=tmp_path)
    assert line.endswith("about 1 minute")  # 18 s for another table, 4 s for each other one
    assert said(capsys, "reproduce", tables=("axiou-noise", "best-constant"), data_dir=tmp_path) == []


def test_the_page_has_every_command():
    page = (Path(__file__).parents[2] / "docs" / "how-long.md").read_text("utf-8")
    table = page[page.index("## Every command") :]
    assert {verb.split()[0] for verb in verbs()} <= {word.split()[0] for word in re.findall("`([^`]+)`", table)}


def test_nothing_is_shown_before_the_first_step(capsys):
    """A fault of the input is then one line."""
    assert said(capsys, "bias", (), dataset=("charades-sta",)) == []
    with status_line(show=True):
        pass
    assert capsys.readouterr().err == ""
