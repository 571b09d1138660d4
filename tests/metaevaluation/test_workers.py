"""Work in pieces: in order, by any number of workers, errors through."""

from __future__ import annotations

import threading
import time

import pytest

from truemoment.base.boundary.distribution import available_cores
from truemoment.base.errors import InputError, UsageError
from truemoment.studies.meta.workers import map_in_order


@pytest.mark.parametrize("workers", [1, 2, 7, None])
def test_results_come_in_the_order_of_the_pieces(workers) -> None:
    pieces = list(range(20))
    found = map_in_order(lambda piece: piece * piece, pieces, workers=workers, description="squares", progress=False)
    assert list(found) == [piece * piece for piece in pieces]


def test_a_piece_that_is_done_late_stands_in_its_place() -> None:
    second = threading.Event()

    def work(piece: int) -> int:
        if piece == 0:
            assert second.wait(5)
        else:
            second.set()
        return piece

    assert list(map_in_order(work, [0, 1], workers=2, description="", progress=False)) == [0, 1]


def test_nothing_to_do() -> None:
    assert list(map_in_order(str, [], workers=3, description="", progress=False)) == []


def test_an_error_of_a_piece_comes_through_and_the_rest_is_left() -> None:
    done = []

    def work(piece: int) -> int:
        if piece == 3:
            raise InputError("piece 3 is wrong")
        time.sleep(0.002 if piece > 3 else 0)  # 2 s for all, in which the error is seen
        done.append(piece)
        return piece

    with pytest.raises(InputError, match="piece 3 is wrong"):
        list(map_in_order(work, range(1000), workers=1, description="", progress=False))
    assert done[:3] == [0, 1, 2]
    assert len(done) < 999


@pytest.mark.parametrize("workers", [0, -1])
def test_refuses_no_workers(workers) -> None:
    with pytest.raises(UsageError, match="expected 1 or more"):
        list(map_in_order(str, [1], workers=workers, description="", progress=False))


def test_progress_is_told_on_standard_error(capsys) -> None:
    assert list(map_in_order(str, range(9), workers=1, description="counting sheep", progress=True))[-1] == "8"
    out, err = capsys.readouterr()
    assert out == ""
    assert "counting sheep" in err
    list(map_in_order(str, range(9), workers=1, description="counting sheep", progress=False))
    assert capsys.readouterr().err == ""


def test_there_is_a_core() -> None:
    assert available_cores() >= 1
