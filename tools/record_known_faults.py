"""Record the known faults of the real files in the package: python tools/record_known_faults.py DATA_DIR.

Run it only after looking at what `truemoment datasets check` finds: what is recorded is expected from then on.
Datasets whose files are not in DATA_DIR keep their record.
"""

import json
import sys
from pathlib import Path

from truemoment.base.errors import MissingFileError
from truemoment.data.datasets import DATASETS
from truemoment.data.datasets.check import check_dataset
from truemoment.data.datasets.faults import KNOWN_FAULTS


def main(data_dir: Path) -> None:
    """Check every dataset at hand and write what was found."""
    record = json.loads(KNOWN_FAULTS.read_text(encoding="utf-8"))
    for name, dataset in DATASETS.items():
        try:
            report = check_dataset(dataset, data_dir)
        except MissingFileError:
            continue
        read = set(report.counts)
        splits: dict[str, dict[str, dict[str, object]]] = {}
        for finding in report.findings:
            if finding.fault:
                kinds = splits.setdefault(finding.split, {})
                kinds[finding.kind] = {"count": finding.count, "digest": finding.digest}
        kept = {split: kinds for split, kinds in record.get(name, {}).items() if not set(split.split(" -> ")) <= read}
        record[name] = kept | splits
    KNOWN_FAULTS.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
