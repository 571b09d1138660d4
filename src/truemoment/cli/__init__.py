"""The command line: a file a verb.

Exit status: 0 done; 1 a check that was asked for failed; 2 bad input or usage, with one line on
standard error; 3 a bug of ours (``--debug`` shows the traceback); 130 interrupted.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import click

from truemoment.exceptions import TrueMomentError
from truemoment.version import __version__

EXIT_CHECK_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_BUG = 3
EXIT_INTERRUPTED = 130

EXTRAS = MappingProxyType(
    {
        **dict.fromkeys(("torch", "accelerate", "safetensors", "h5py", "yaml"), "models"),
        **dict.fromkeys(("transformers", "av", "PIL", "faiss", "array_api_compat"), "search"),
        "ray": "scale",
    }
)
"""The extra that brings each optional package."""

COMMANDS = MappingProxyType(
    {
        "demo": "The main job on a built-in world: no data, no network.",
        "audit": "Tell whether a model found the moments, or guessed them.",
        "evaluate": "Measure a prediction file by a stated protocol.",
        "compare": "Compare methods: paired, with corrected p values.",
        "bias": "Tell what a dataset gives away before anybody looks at a video.",
        "resplit": "Split a dataset anew, so that guessing stops working.",
        "meta": "Study measures: which agree, which are stable, which select well.",
        "humans": "Hold several annotators against references and each other.",
        "train": "Train a model by a recipe, and answer the test splits.",
        "predict": "Ask a served model or a trained one, and keep the answers.",
        "sweep": "Train methods over a grid of a dial, with floors beside.",
        "variants": "Train variants of a method for studies of model selection.",
        "features": "Tell what a store of features holds, and whom it lacks.",
        "index": "Look at videos once, so that they can be searched.",
        "search": "Find the moments that a sentence describes.",
        "convert": "Write a prediction file in another format.",
        "baseline": "Write what a blind baseline, or the oracle, answers.",
        "reproduce": "Set published tables beside what comes out here.",
        "datasets": "List, describe, check or fetch datasets.",
        "protocols": "List the evaluation conventions, or show one field by field.",
        "measures": "List the measures and how they are written.",
    }
)


class LazyGroup(click.Group):
    """A group whose commands are imported when used, so that help comes at once.

    Parameters
    ----------
    package
        Where the modules of its verbs lie, each with a ``command``.
    verbs
        Meaning of each verb, in the order of the help.
    **settings
        As for :class:`click.Group`.
    """

    def __init__(self, *, package: str, verbs: Mapping[str, str], **settings: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(**settings)
        self.package, self.verbs = package, verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of the help."""
        del ctx
        return list(self.verbs)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a verb."""
        del ctx
        if name not in self.verbs:
            return None
        command = importlib.import_module(f"{self.package}.{name}").command
        if not isinstance(command, click.Command):
            raise TypeError(f"{self.package}.{name}.command is no command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(self.verbs.items()))


@click.group(
    cls=LazyGroup,
    package="truemoment.cli",
    verbs=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="truemoment %(version)s")
def cli() -> None:
    """Tell whether a model found the moment, or guessed where moments usually are.

    Every command takes --debug, which shows the traceback of an error.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"]
    sys.exit(run(words, debug=debug))


def run(words: list[str], *, debug: bool = False) -> int:  # noqa: PLR0911 - a return for each way to end
    """Run the command line and return its exit status; errors become one line on standard error."""
    try:
        with cli.make_context("truemoment", words) as context:
            cli.invoke(context)
        if sys.stdout is not None:  # it may have been closed: ">&-"
            sys.stdout.flush()
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return EXIT_BAD_INPUT
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "truemoment"
        return _fail(f"{one_line(error.format_message())} (see {command} --help)", EXIT_BAD_INPUT, debug=debug)
    except (TrueMomentError, click.ClickException) as error:
        return _fail(one_line(str(error)), EXIT_BAD_INPUT, debug=debug)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get(error.name or "")
        if extra is None:
            return _fail(f"a bug of ours: {one_line(str(error))} (--debug shows where)", EXIT_BUG, debug=debug)
        told = f"this needs the package {error.name}: pip install 'truemoment[{extra}]'"
        return _fail(told, EXIT_BAD_INPUT, debug=debug)
    except (KeyboardInterrupt, click.Abort):
        return _fail("interrupted; nothing half-written remains", EXIT_INTERRUPTED, debug=False)
    except BrokenPipeError:
        _close_output()  # the reader has gone, as in "| head"
        return 0
    except OSError as error:
        _close_output()
        return _fail(one_line(f"{error.filename or 'standard output'}: {error.strerror}"), EXIT_BAD_INPUT, debug=debug)
    except Exception as error:
        what = f"a bug of ours: {type(error).__name__}: {one_line(str(error))} (--debug shows where)"
        return _fail(what, EXIT_BUG, debug=debug)
    return 0


def _close_output() -> None:
    """Send what is still to be written nowhere, so that the interpreter's end does not stumble over it."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def one_line(text: str) -> str:
    """Fold a text into one printable line."""
    return " ".join("".join(c if c.isprintable() or c.isspace() else "\ufffd" for c in text).split())


def _fail(message: str, status: int, *, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    with contextlib.suppress(OSError, AttributeError):  # standard error may be full or closed
        click.echo(f"truemoment: {message}", err=True)
    return status
