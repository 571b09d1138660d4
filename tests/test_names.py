"""Names of the package, checked over all of its files."""

import ast
import doctest
import functools
import inspect
import re
from collections import defaultdict
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

PACKAGE = Path(__file__).parents[1] / "src" / "truemoment"

NO_NOUN = {"of", "found", "one", "there"}
"""Words that name no value: a reader does not know what it is."""

NO_VERB_OR_NOUN = {
    *("again", "ahead", "already", "apart", "aside", "behind", "beside", "evenly", "exactly", "together", "within"),
    *("each", "here", "it", "nobody", "one", "others", "same", "somebody", "some", "that", "there", "they", "whoever"),
    *("asked", "blaming", "chosen", "given", "holding", "made", "merged", "placed", "remembering", "said", "scored"),
    *("found", "seeing", "shown", "stitched", "summed", "taken", "told", "unseen", "windowed", "written"),
}
"""Pronouns, adverbs and participles that name no function or class of the packages below."""

HELD = ("cli", "searching")
"""Packages whose functions and classes are held to :data:`NO_VERB_OR_NOUN`."""


@functools.cache
def modules():
    """Return the compiled code of each module by its path; Python keeps it on the disk, unlike the syntax tree."""
    return {
        path.relative_to(PACKAGE).as_posix(): SourceFileLoader(path.name, str(path)).get_code(path.name)
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def codes(code):
    """Yield a module's code, and that of its functions, classes and expressions."""
    yield code
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from codes(value)


def names(code):
    """Return all names of a module: variables, functions, classes, attributes, modules that it imports."""
    return {name for part in codes(code) for name in (*part.co_varnames, *part.co_cellvars, *part.co_names)}


def is_class(code):
    return not code.co_flags & inspect.CO_OPTIMIZED and code.co_name != "<module>"


def tree_of(path):
    return ast.parse((PACKAGE / path).read_text("utf-8"))


def values(tree):
    """Yield each name of a value in a tree, with its line: variables, parameters, attributes that are set."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno


def examples(code):
    """Yield the tree of each example in docstrings."""
    for text in {text for part in codes(code) for text in part.co_consts if isinstance(text, str) and ">>> " in text}:
        yield from (ast.parse(example.source) for example in doctest.DocTestParser().get_examples(text))


def test_a_class_name_means_one_thing():
    places = defaultdict(list)
    for path, code in modules().items():
        for part in filter(is_class, codes(code)):
            places[part.co_name.lstrip("_")].append(f"{path}, line {part.co_firstlineno}")
    repeated = [f"{name}: {'; '.join(found)}" for name, found in places.items() if len(found) > 1]
    assert not repeated, "\n".join(repeated)
    assert len(places) > 400


def test_a_value_is_named_by_a_noun():
    bad = [
        f"{path}, line {line}: {name}"
        for path, code in modules().items()
        for part in (*([tree_of(path)] if NO_NOUN & names(code) else []), *examples(code))
        for name, line in values(part)
        if name in NO_NOUN
    ]
    assert not bad, "\n".join(bad)


def test_a_value_of_a_page_is_named_by_a_noun():
    names = "|".join(sorted(NO_NOUN))
    declared = re.compile(rf"\b(?:const|let) (?:{names})\b|\((?:{names})(?=\) (?:=>|\{{))")
    bad = [
        f"{path.relative_to(PACKAGE).as_posix()}, line {number}: {line.strip()}"
        for path in sorted(PACKAGE.rglob("*.js"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if declared.search(line)
    ]
    assert not bad, "\n".join(bad)


def test_a_function_or_class_is_named_by_a_verb_or_noun():
    bad = [
        f"{path}, line {part.co_firstlineno}: {part.co_name}"
        for path, code in modules().items()
        if path.startswith(HELD)
        for part in codes(code)
        if part.co_name.strip("_").lower() in NO_VERB_OR_NOUN
    ]
    assert not bad, "\n".join(bad)
