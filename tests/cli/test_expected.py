"""Long commands write how long they take when their work begins; short ones, faulty ones and quiet ones do not."""

import re
from pathlib import Path

import click
import pytest
from tests.hostile.every import verbs

from truemoment.cli.expected import expect
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
        # docs/how-long.md: 52 s, 12 s and 66 s of a processor; 86 s by the clock.
        ("audit", {"dataset": "charades-cd"}, "about 40 seconds; some seconds where the floors"),
        ("audit", {"dataset": "activitynet-cd"}, "about 2 minutes; some seconds where the floors"),
        ("bias", {"datasets": ("charades-sta",)}, "about 20 seconds"),
        ("resplit", {"dataset": "charades-sta"}, "about 1 minute"),
        ("demo", {"videos": 2000, "searching": False, "collecting": False, "browsing": False}, "about 1 minute"),
    ],
)
def test_a_long_command_says_so_once(capsys, name, options, words):
    (line,) = said(capsys, name, **options)
    assert line.startswith(f"truemoment: this takes {words}")


def test_a_command_of_a_group_is_not_the_one_of_the_same_name():
    program, group, demo = (click.Context(click.Command(name)) for name in ("truemoment", "annotate", "demo"))
    group.parent, demo.parent = program, group
    with demo:
        expect("demo", {"out": "lab"})  # it has no options of demo
    assert demo.meta == {}


def test_nothing_is_said_of_short_quiet_or_faulty_commands(capsys, tmp_path):
    mine = tmp_path / "mine.jsonl"
    mine.write_text("{}\n" * 100)
    assert said(capsys, "audit", dataset=None, annotations=mine) == []
    assert said(capsys, "evaluate", dataset="charades-cd") == []
    assert said(capsys, "audit", show=False, dataset="charades-cd") == []
    assert said(capsys, "audit", steps=(), dataset="charades-cd") == []
    assert said(capsys, "reproduce", tables=(), data_dir=tmp_path) == []


def test_the_page_has_every_command():
    page = (Path(__file__).parents[2] / "docs" / "how-long.md").read_text("utf-8")
    table = page[page.index("## Every command") :]
    assert {verb.split()[0] for verb in verbs()} <= {word.split()[0] for word in re.findall("`([^`]+)`", table)}
