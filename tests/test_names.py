"""Names of the package, checked over all of its files."""

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "truemoment"


def test_a_class_name_means_one_thing():
    places = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name.lstrip("_")].append(f"{path.relative_to(PACKAGE).as_posix()}, line {node.lineno}")
    repeated = [f"{name}: {'; '.join(found)}" for name, found in places.items() if len(found) > 1]
    assert not repeated, "\n".join(repeated)
    assert len(places) > 400
