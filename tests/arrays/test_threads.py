"""Arrays that several threads open: Python before 3.11.8 and 3.12.2 cannot parse two of their heads at once."""

import ast
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from truemoment.base.boundary.arrays import map_npy, read_npz


def test_one_head_is_parsed_at_a_time(tmp_path, monkeypatch):
    parse, under_way, most = ast.literal_eval, [], []

    def counted(text):
        under_way.append(text)
        time.sleep(0.001)
        most.append(len(under_way))
        under_way.pop()
        return parse(text)

    monkeypatch.setattr(ast, "literal_eval", counted)  # what NumPy parses heads with
    np.save(tmp_path / "rows.npy", np.zeros((3, 4)))
    np.savez(tmp_path / "rows.npz", a=np.ones((3, 4)))

    def read(_):
        return map_npy(tmp_path / "rows.npy").sum() + read_npz(tmp_path / "rows.npz", "a")[0].sum()

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(read, range(40))) == {12.0}
    assert len(most) >= 80
    assert max(most) == 1
