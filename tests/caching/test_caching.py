"""What commands cache: computed once, by the same command or by the next one."""

from __future__ import annotations

import numpy as np
import pytest

from truemoment.caching import Cache
from truemoment.inputs import command_inputs


@pytest.mark.parametrize("again_in", ["the same command", "the next command"])
def test_a_command_keeps_what_it_looked_for_and_did_not_find(tmp_path, again_in):
    # The register of inputs took an entry that was looked for as read, so that it was never written.
    told, computed = [], []

    def compute():
        computed.append(1)
        return {"values": np.arange(3)}

    def asked():
        return Cache(tmp_path / "cache", told.append).arrays("answers", {"split": "test"}, compute)["values"].tolist()

    with command_inputs():
        found = [asked()]
        if again_in == "the same command":
            found.append(asked())
    if again_in == "the next command":
        with command_inputs():
            found.append(asked())
    assert found == [[0, 1, 2], [0, 1, 2]]
    assert len(computed) == 1
    assert told == []
