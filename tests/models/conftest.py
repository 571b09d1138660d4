"""Modules that tests of models share."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # tests of CTRL and ACRN share slow_windows
