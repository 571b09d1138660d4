"""``python -m truemoment`` is ``truemoment``."""

import os
import sys

import truemoment
from truemoment.cli import main


def leave_current_folder_out() -> None:
    """Remove the current folder from ``sys.path``, where ``python -m`` puts it, unless this package was found there."""
    first = sys.path[0] if sys.path and not sys.flags.safe_path else None
    if first is not None and os.path.dirname(truemoment.__path__[0]) != os.path.abspath(first):  # noqa: PTH100, PTH120
        del sys.path[0]


if __name__ == "__main__":
    leave_current_folder_out()
    main()
