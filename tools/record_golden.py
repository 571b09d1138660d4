"""Record what the command line does: python tools/record_golden.py [CASE...] writes tests/golden/CASE.json.

Each case that has a seed runs with 20 seeds, and once more with the first: what differs between seeds is drawn, what
differs between equal seeds is not held. Drawn figures whose means lie more than 3 standard errors from those recorded
before are named. Look at the difference in git before you commit it. All cases take a quarter of an hour.
"""

import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "tests" / "golden"
sys.path.insert(0, str(GOLDEN))

from commands import CASES, Case  # noqa: E402 - it lies beside the tests

from golden import away_from_home, drawn_figures, merged, moved, outcome, prepare  # noqa: E402 - as above

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
                    record(case, root)


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
    recorded, path = merged(of_seeds, repeat, seeds), GOLDEN / f"{case.name}.json"
    before = json.loads(path.read_text("utf-8")) if path.is_file() else None
    path.write_text(as_text(recorded), encoding="utf-8")
    lines, n_drawn = moved(before, recorded, SEEDS), len(list(drawn_figures(recorded)))
    say(f"{case.name}: {len(lines)} of {n_drawn} drawn figures moved; 3 of 1,000 do by chance alone")
    for line in lines:
        say(f"  {line}")


def as_text(recorded: object) -> str:
    """Return JSON with a line for each figure, also one that is drawn."""
    text = json.dumps(recorded, indent=1, ensure_ascii=False) + "\n"
    return re.sub(r'\{\s+("~drawn": [^\[{},]+),\s+([^{},]+),\s+([^{},]+?)\s+\}', r"{\1, \2, \3}", text)


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
