"""Record what the command line does: python tools/record_golden.py [CASE...] writes tests/golden/CASE.json.

Each case that has a seed runs with 20 seeds, and once more with the first: what differs between seeds is drawn, what
differs between equal seeds is not held. Look at the difference in git before you commit it.
"""

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "tests" / "golden"
sys.path.insert(0, str(GOLDEN))

from commands import CASES, Case  # noqa: E402 - it lies beside the tests

from golden import away_from_home, merged, outcome, prepare  # noqa: E402 - as above

SEEDS = 20


def main(names: list[str]) -> None:
    """Record the cases of these names, or all."""
    if unknown := set(names) - {case.name for case in CASES}:
        sys.exit(f"no such case: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        prepare(root / "inputs")
        with away_from_home(root / "cache"):
            for case in CASES:
                if not names or case.name in names:
                    began = time.monotonic()
                    record(case, root)
                    sys.stdout.write(f"{case.name}: {time.monotonic() - began:.1f} s\n")
                    sys.stdout.flush()


def record(case: Case, root: Path) -> None:
    """Run a case with every seed, and write what the test is to expect."""
    seeds = list(range(SEEDS if case.is_seeded else 1))
    outcomes = []
    for number, seed in enumerate([0, *seeds]):
        work = root / f"work-{number}"  # not always the same, so that paths are seen to differ
        shutil.copytree(root / "inputs", work)
        outcomes.append(json.loads(json.dumps(outcome(case, work, seed))))
        shutil.rmtree(work)
    repeat, *of_seeds = outcomes
    text = json.dumps(merged(of_seeds, repeat, seeds), indent=1, ensure_ascii=False)
    (GOLDEN / f"{case.name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
