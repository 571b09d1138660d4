"""A Ray cluster that asks for a token: one that is started on this machine, for it alone, or one that is joined.

A cluster runs whatever code it is sent, so nobody else may send any. Ray compares tokens from version 2.52 on, where
it is asked to (``RAY_AUTH_MODE=token``).

Started here
    It listens on the loopback interface alone. Its token is made for it and is in no file: Ray would write it where
    others can read it. Its files, with the sockets of its processes, lie in a folder of this user that is removed in
    the end. There is no dashboard, and nothing is reported to Ray's makers.

Workers import nothing from the current folder: Ray gives them the folder in which it connects, which is therefore an
empty one of this user.

Joined
    It listens where it was started to. Its token comes from the variable ``RAY_AUTH_TOKEN``, or from a file that no
    other user may read: that of ``RAY_AUTH_TOKEN_PATH``, or ``~/.ray/auth_token``.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import logging
import os
import re
import secrets
import shutil
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from truemoment.base.boundary.processes import own_imports_only
from truemoment.base.errors import InputError, MissingPackageError, UsageError

LEAST_VERSION = (2, 52)
"""The first Ray with tokens: https://docs.ray.io/en/latest/ray-security/token-auth.html."""

CONNECT_S = 10.0
"""How long a cluster may take to answer."""

SETTINGS = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "token"}
"""What Ray reads when it is imported."""

LOOPBACK_ONLY = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""The same, for a cluster of this machine: Ray then listens on loopback, as it does on macOS and Windows."""


@contextlib.contextmanager
def ray_cluster(workers: int | None) -> Iterator[Any]:
    """Connect to the cluster of the variable ``RAY_ADDRESS``, or start one on this machine until all is done.

    A program that has called ``ray.init`` itself keeps its connection.

    Parameters
    ----------
    workers
        Cores of a cluster that is started; None for all.

    Yields
    ------
    ray
        The package, connected.
    """
    _refuse_old()
    loaded = sys.modules.get("ray")
    if loaded is not None and loaded.is_initialized():
        yield loaded
        return
    address = os.environ.get("RAY_ADDRESS") or "local"
    if address == "local":
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        ray = _imported({**SETTINGS, **LOOPBACK_ONLY})
    else:
        _refuse_readable_token()
        _refuse_unreachable(address)
        ray = _imported({**SETTINGS, "RAY_AUTH_MODE": os.environ.get("RAY_AUTH_MODE", "token")})
    with contextlib.ExitStack() as after:
        closed = after.enter_context(_own_folder())
        options: dict[str, Any] = {}
        if address == "local":
            options = {"num_cpus": workers, "include_dashboard": False, "_temp_dir": f"{closed}/ray"}
        after.callback(ray.shutdown)
        try:
            with own_imports_only(), contextlib.chdir(closed):
                ray.init(address=address, **options, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError, ray.exceptions.AuthenticationError) as error:
            failure = "on this machine cannot be started" if address == "local" else f"at {address} cannot be reached"
            raise InputError(f"the cluster {failure} ({error})") from None
        yield ray


def failed_worker(error: Exception, needs: str) -> InputError:
    """Return the error of a worker in one line, with what every machine needs besides TrueMoment."""
    reason = str(error).strip().rpartition("\n")[2]
    return InputError(f"a worker of the cluster failed: {reason}", hint=f"every machine needs TrueMoment, {needs}")


def _refuse_old() -> None:
    """Refuse a Ray without tokens."""
    least = ".".join(map(str, LEAST_VERSION))
    try:
        version = importlib.metadata.version("ray")
    except importlib.metadata.PackageNotFoundError:
        raise MissingPackageError("ray", "scale", "--engine ray") from None
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < LEAST_VERSION:
        raise MissingPackageError(f"ray>={least}", "scale", f"--engine ray (there is {version}, without tokens)")


def _imported(settings: Mapping[str, str]) -> Any:  # noqa: ANN401 - an optional package
    """Import Ray with its settings, which it reads only then."""
    different = [name for name, value in settings.items() if os.environ.get(name) != value]
    if different and sys.modules.get("ray") is not None:
        raise UsageError(
            f"Ray was imported without {different[0]}={settings[different[0]]}, expected it in the environment before: "
            "import ray later, or connect with ray.init yourself"
        )
    os.environ.update(settings)
    try:
        return importlib.import_module("ray")
    except ModuleNotFoundError:
        raise MissingPackageError("ray", "scale", "--engine ray") from None


@contextlib.contextmanager
def _own_folder() -> Iterator[str]:
    """Make a folder that is closed to others, since Ray opens its own in it to everybody, and remove it in the end."""
    short = Path("/tmp")  # noqa: S108 - names of sockets are short, about 100 bytes; mkdtemp keeps others out
    closed = tempfile.mkdtemp(prefix="truemoment-", dir=short if short.is_dir() else None)
    try:
        yield closed
    finally:
        shutil.rmtree(closed, ignore_errors=True)


def _refuse_readable_token() -> None:
    """Refuse a file of a token that others can read, as Ray itself writes it."""
    if os.environ.get("RAY_AUTH_TOKEN") or os.name != "posix":
        return
    path = Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or "~/.ray/auth_token").expanduser()
    with contextlib.suppress(FileNotFoundError):
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise InputError(
                "can be read by others, and contains the token of a cluster", path=path, hint=f"chmod 600 {path}"
            )


def _refuse_unreachable(address: str) -> None:
    """Refuse a cluster at HOST:PORT that does not answer; Ray itself would retry for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_S).close()
    except (OSError, OverflowError) as error:
        raise InputError(f"the cluster at {address} cannot be reached ({error})", field="RAY_ADDRESS") from None
