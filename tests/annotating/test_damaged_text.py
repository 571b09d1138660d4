"""A damaged database may hold names that are no UTF-8."""

from pathlib import Path

import pytest

from truemoment.annotating.store import undamaged
from truemoment.exceptions import InputError


def test_it_is_named():
    with pytest.raises(InputError, match=r"s\.sqlite: cannot be read"), undamaged(Path("s.sqlite")):
        b"\xff".decode()
