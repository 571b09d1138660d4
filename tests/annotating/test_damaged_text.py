"""A damaged database may hold names that are no UTF-8, and text that is no JSON of ours."""

from pathlib import Path

import pytest

from truemoment.base.errors import InputError
from truemoment.web.annotating.practice import hidden_moments
from truemoment.web.annotating.store import undamaged


def test_it_is_named():
    with pytest.raises(InputError, match=r"s\.sqlite: cannot be read"), undamaged(Path("s.sqlite")):
        b"\xff".decode()


@pytest.mark.parametrize("hidden", ["\0", "[]", "{}", '{"moments": [[1]]}', '{"moments": [[1, "x"]]}'])
def test_references_that_are_none_are_named(hidden):
    with pytest.raises(InputError, match=r"s\.sqlite: cannot be read"), undamaged(Path("s.sqlite")):
        hidden_moments(hidden)
