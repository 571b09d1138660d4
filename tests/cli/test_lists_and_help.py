"""truemoment protocols and measures; --help and --version."""

import pytest

from truemoment import __version__, parse_measure
from truemoment.cli.group import COMMANDS
from truemoment.cli.meta import STUDIES
from truemoment.evaluation.measures import FAMILIES
from truemoment.evaluation.protocols import CONVENTION_FIELDS, PROTOCOLS, get_protocol
from truemoment.evaluation.references import REFERENCE_RULES


def test_the_verbs(call):
    # DESIGN.md, command line.
    assert set(COMMANDS) >= {*("demo", "datasets", "protocols", "measures", "baseline", "evaluate", "audit", "compare")}
    status, out, err = call("--help")
    assert (status, err) == (0, "")
    assert out.startswith("Usage: truemoment [OPTIONS] COMMAND [ARGS]...\n")
    for verb, summary in COMMANDS.items():
        assert any(line.split() == [verb, *summary.split()] for line in out.splitlines())


def test_the_studies_of_measures(call):
    # DESIGN.md, command line.
    assert set(STUDIES) >= {
        *("axioms", "agreement", "stability", "ambiguity", "ties", "selection", "power", "theory"),
    }
    status, out, err = call("meta", "--help")
    assert (status, err) == (0, "")
    for study, summary in STUDIES.items():
        assert f"{study} {summary}" in " ".join(out.split())


def test_help_of_evaluate_shows_its_examples_a_line_each(call):
    lines = [line.strip() for line in call("evaluate", "--help")[1].splitlines()]
    assert any(
        line.startswith("truemoment evaluate preds.jsonl --dataset charades-cd --split test-ood") for line in lines
    )
    assert any(line.startswith("truemoment evaluate preds.jsonl --annotations mine.jsonl") for line in lines)


def test_version(call):
    assert call("--version") == (0, f"truemoment {__version__}\n", "")


def test_protocols(call):
    status, out, err = call("protocols", "list")
    assert (status, err) == (0, "")
    words = out.splitlines()[2:]
    assert max(map(len, words)) <= 100
    shown = [word for of in PROTOCOLS.values() for word in (of.name, *of.summary.split())]
    assert " ".join(words).split() == shown  # long ones over several lines


@pytest.mark.parametrize("name", [*PROTOCOLS, "default,comparison=>=,tolerance=none"])
def test_a_protocol(call, name):
    status, out, err = call("protocols", "show", name)
    assert (status, err) == (0, "")
    protocol = get_protocol(name)
    lines = out.splitlines()
    words = " ".join(out.split())
    assert words.startswith(f"{' '.join(name.split())} {protocol.summary} source {protocol.source} measures ")
    shown = {line.split()[0] for line in lines[3:] if line and not line.startswith(" ")}
    assert set(CONVENTION_FIELDS) <= shown
    assert lines[-1] == f"signature: {protocol.signature()}"


def test_measures(call):
    status, out, err = call("measures", "list")
    assert (status, err) == (0, "")
    rows = out.partition("\n\n")[0].splitlines()[2:]
    written = [line.split()[0] for line in rows if not line.startswith(" ")]
    assert [str(parse_measure(text)) for text in written] == written  # each example is understood
    assert [text.partition("@")[0].partition(",")[0] for text in written] == list(FAMILIES)
    for rule in REFERENCE_RULES:
        assert rule in out
