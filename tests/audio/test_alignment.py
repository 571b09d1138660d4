import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.base.errors import InputError
from truemoment.media.audio.alignment import Alignment, Piece, Side, Unmatched, faults_of, gaps_between, read_alignment

SIDE = Side("film.mp4", "1:ab", 0, 6000.0)


def alignment(pieces):
    return Alignment(
        film=SIDE,
        track=SIDE,
        rate_candidate="1",
        pieces=tuple(pieces),
        unmatched=Unmatched(),
        paper=None,
        verdict="aligned in pieces",
    )


@st.composite
def drawn_pieces(draw):
    """Disjoint pieces that rise on both sides."""
    track_s, film_s, pieces = draw(st.floats(0, 50)), draw(st.floats(0, 50)), []
    for _ in range(draw(st.integers(1, 5))):
        rate, length = draw(st.floats(0.9, 1.1)), draw(st.floats(1, 2000))
        pieces.append(Piece((track_s, track_s + length), rate, film_s - rate * track_s, 1e-4))
        track_s += length + draw(st.floats(0, 100))
        film_s = pieces[-1].film_s[1] + draw(st.floats(0, 100))
    return pieces


@given(pieces=drawn_pieces(), share=st.floats(0.001, 0.999))
def test_there_and_back(pieces, share):
    found = alignment(pieces)
    times = np.array([low + share * (high - low) for low, high in (piece.film_s for piece in pieces)])
    back = found.to_film(found.to_track(times))
    assert np.abs(back - times).max() <= 1e-9 * max(1, times.max())  # float64 of times up to hours
    assert not faults_of(pieces)


def test_times_outside_of_pieces_have_no_counterpart():
    found = alignment([Piece((0.0, 10.0), 1.0, 5.0, 0.0), Piece((20.0, 30.0), 1.0, 0.0, 0.0)])
    np.testing.assert_array_equal(np.isnan(found.to_film([-1, 0, 10, 15, 20, 31])), [1, 0, 0, 1, 0, 1])
    np.testing.assert_array_equal(np.isnan(found.to_track([4, 5, 15, 17, 20, 31])), [1, 0, 0, 1, 0, 1])


def test_file_there_and_back(tmp_path):
    found = alignment([Piece((0.0, 10.0), 1.0, 5.0, 0.001, ((2.0, 3.0),))])
    found.write(tmp_path / "alignment.json")
    assert read_alignment(tmp_path / "alignment.json") == found


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (lambda of: of.update(schema="other/1"), "field schema: got 'other/1'"),
        (lambda of: of["pieces"][0].update(rate="x"), "rate"),
        (lambda of: of["pieces"].append(of["pieces"][0]), "field pieces: piece 1 starts before piece 0 ends"),
        (lambda of: of["pieces"][0].update(track_s=[3.0, 1.0]), "expected start < end"),
    ],
)
def test_a_wrong_file_is_refused_with_its_field(tmp_path, change, finding):
    document = json.loads(json.dumps(alignment([Piece((0.0, 10.0), 1.0, 5.0, 0.001)]).document()))
    change(document)
    (tmp_path / "alignment.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=finding):
        read_alignment(tmp_path / "alignment.json")


def test_gaps_are_what_spans_leave():
    assert gaps_between([], 10.0) == ((0.0, 10.0),)
    assert gaps_between([(0.0, 4.0), (4.01, 10.0)], 10.0) == ()
