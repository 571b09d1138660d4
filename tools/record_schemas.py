"""Make the schemas of JSON documents from documents: python tools/record_schemas.py FOLDER [FOLDER...].

``TRUEMOMENT_DOCUMENTS=FOLDER pytest`` keeps the documents of all tests in a folder. Look at the difference in git
before you commit it: a key that comes or goes is a change that users see. Kinds that no folder has keep their schema.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SCHEMAS = Path(__file__).parents[1] / "tests" / "golden" / "schemas"
NAME = re.compile(r"[a-z][a-z0-9_]*")
"""What a key looks like that we gave; others are names of measures, methods, files."""


@dataclass
class Values:
    """All values that were seen in one place."""

    kinds: set[str] = field(default_factory=set)
    n_objects: int = 0
    count: Counter[str] = field(default_factory=Counter)
    keys: dict[str, Values] = field(default_factory=dict)
    items: Values | None = None

    def add(self, value: Any) -> None:  # noqa: ANN401 - whatever JSON holds
        """Take one more value."""
        match value:
            case dict():
                self.kinds.add("object")
                self.n_objects += 1
                for key, of in value.items():
                    self.count[key] += 1
                    self.keys.setdefault(key, Values()).add(of)
            case list():
                self.kinds.add("array")
                for of in value:
                    self.items = self.items or Values()
                    self.items.add(of)
            case None:
                self.kinds.add("null")
            case bool():
                self.kinds.add("boolean")
            case int() | float():
                self.kinds.add("number")
            case _:
                self.kinds.add("string")

    def merged(self, other: Values) -> Values:
        """Take all values of another place, too."""
        self.kinds |= other.kinds
        self.n_objects += other.n_objects
        self.count += other.count
        for key, of in other.keys.items():
            self.keys.setdefault(key, Values()).merged(of)
        if other.items is not None:
            self.items = (self.items or Values()).merged(other.items)
        return self

    @property
    def is_by_name(self) -> bool:
        """Whether keys are names that data decides, not ours."""
        if not all(NAME.fullmatch(key) for key in self.keys):
            return True
        always = any(count == self.n_objects for count in self.count.values())
        return len(self.keys) > 3 and not always and len({frozenset(of.kinds) for of in self.keys.values()}) == 1

    def schema(self) -> dict[str, Any]:
        """Return the schema that all these values fit: other keys are refused."""
        kinds = sorted(self.kinds)
        if not self.kinds - {"null"}:
            return {}  # nobody has seen a value
        found: dict[str, Any] = {"type": kinds[0] if len(kinds) == 1 else kinds}
        if "array" in kinds and self.items is not None:
            found["items"] = self.items.schema()
        if "object" in kinds and not self.keys:
            return found
        if "object" in kinds and self.is_by_name:
            every = Values()
            for of in self.keys.values():
                every.merged(of)
            found["additionalProperties"] = every.schema()
        elif "object" in kinds:
            found["properties"] = {key: of.schema() for key, of in sorted(self.keys.items())}
            found["required"] = sorted(key for key, count in self.count.items() if count == self.n_objects)
            found["additionalProperties"] = False
        return found


def main(folders: list[str]) -> None:
    """Write the schema of every kind of document in the folders."""
    SCHEMAS.mkdir(exist_ok=True)
    for kind in sorted({path.name for folder in folders for path in Path(folder).iterdir()}):
        values = Values()
        documents = [path for folder in folders for path in sorted((Path(folder) / kind).glob("*.json"))]
        for path in documents:
            values.add(json.loads(path.read_text("utf-8")))
        schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **values.schema()}
        (SCHEMAS / f"{kind}.json").write_text(json.dumps(schema, indent=1, ensure_ascii=False) + "\n", "utf-8")
        print(f"{kind}: {len(documents)} documents")


if __name__ == "__main__":
    main(sys.argv[1:])
