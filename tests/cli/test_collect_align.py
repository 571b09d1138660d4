"""truemoment collect align, on files."""

import json

import pytest

from truemoment.cli import run
from truemoment.media.audio.alignment import read_alignment
from truemoment.worlds.described.damage import Damage
from truemoment.worlds.described.film import DescribedSettings, make_described


@pytest.fixture(scope="module")
def truth(tmp_path_factory):
    """A film with its track."""
    settings = DescribedSettings(pictures=False, damage=Damage())
    return make_described(tmp_path_factory.mktemp("plain"), 1, 0, settings)


def align(*words):
    return run(["collect", "align", *map(str, words)])


def test_alignment_as_json_and_file(truth, tmp_path, capsys):
    out = tmp_path / "alignment.json"
    few = ("--windows", "4", "--window-s", "10", "--search-s", "10")
    assert align(truth.film, truth.track, *few, "--json", "-", "-o", out) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["verdict"]) == ("truemoment/alignment/1", "aligned")
    (piece,) = read_alignment(out).pieces
    assert piece.delay_s == pytest.approx(-3, abs=1e-3)  # the damage's offset


@pytest.mark.thorough
def test_paper_method_fails_on_another_speed_with_status_1(tmp_path, capsys):
    settings = DescribedSettings(pictures=False, damage=Damage(rate=25 / 24, codec="mp3"))
    truth = make_described(tmp_path, 2, 0, settings)
    assert align(truth.film, truth.track, "--method", "paper") == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "The paper's check fails: it would discard this film." in shown
    assert "(25/24)" in shown


@pytest.mark.parametrize(
    ("words", "finding"),
    [
        (("FILM", "SUBTITLES"), "cannot be read as sound"),
        (("FILM#9", "TRACK"), "has no sound #9, expected one of #0"),
        (("FILM", "TRACK", "--rates", "1/0"), "expected a number or a quotient such as 25/24"),
        (("FILM", "TRACK", "--window-s", "0"), "got a window of 0 s"),
        (("FILM", "nothing.mp3"), "no such file"),
        (("FILM", "TRACK", "-o", "FILM"), "is read or written already"),
    ],
)
def test_bad_input_is_one_line(truth, words, finding, capsys):
    names = {"FILM": truth.film, "FILM#9": f"{truth.film}#9", "TRACK": truth.track, "SUBTITLES": truth.subtitles}
    assert align(*(names.get(word, word) for word in words)) == 2
    error = capsys.readouterr().err
    assert finding in error
    assert error.count("\n") == 1
