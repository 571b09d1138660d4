"""Fetching annotation files where their owners publish them openly, each against its checksum."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path

from truemoment.datasets.base import Dataset, SourceFile
from truemoment.exceptions import DownloadError, UsageError
from truemoment.folders import FETCHING, temporary_folder

TIMEOUT_S = 30
RETRIES = 2


def fetch(
    dataset: Dataset, data_dir: Path, *, progress: bool = False, tell: Callable[[str], None] = lambda _: None
) -> list[Path]:
    """Download the annotation files of a dataset that are not there yet.

    Each file appears under its name only when complete and of the published checksum; an interrupted
    call can simply be repeated. Files that are there and differ are never overwritten.

    Parameters
    ----------
    dataset
        What to fetch.
    data_dir
        The folder that holds (or will hold) one folder a dataset.
    progress
        Show a bar on standard error.
    tell
        Called with a line a file.

    Returns
    -------
    list
        The files now there.

    Raises
    ------
    UsageError
        If the owner asks for an agreement; the steps are ``dataset.steps``.
    DownloadError
        If a file cannot be had, or its content is not the published one.
    """
    if dataset.access == "agreement":
        raise UsageError(
            f"{dataset.name} needs an agreement with its owner and cannot be fetched: {'; '.join(dataset.steps)}"
        )
    folder = data_dir / dataset.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DownloadError(f"cannot be made ({error.strerror})", path=folder) from None
    there = []
    for file in dataset.files:
        path = folder / file.name
        if path.is_file():
            if file.agrees(path) is False:
                raise DownloadError(
                    "is there, and its content is not the published one (checksum)",
                    path=path,
                    hint="move it away to have it fetched",
                )
            tell(f"{path}: there already")
        elif os.path.lexists(path):
            raise DownloadError("is a folder or a broken link", path=path, hint="move it away to have the file fetched")
        else:
            _download(file, folder, progress=progress)
            tell(f"{path}: fetched from {file.url}")
        there.append(path)
    return there


def _download(file: SourceFile, folder: Path, *, progress: bool) -> None:
    """Download into a folder aside, check, and only then put the file in its place."""
    import pooch  # noqa: PLC0415 - only fetching needs it, and importing takes time
    import requests  # noqa: PLC0415 - comes with pooch

    pooch.get_logger().setLevel(logging.ERROR)
    known = f"sha256:{file.sha256}" if file.sha256 else None
    path = folder / file.name
    differs = DownloadError(
        f"what came from {file.url} is not the published file (checksum)", path=path, hint="nothing was kept"
    )
    with temporary_folder(folder, FETCHING) as aside:
        store = pooch.create(
            path=aside, base_url="", registry={file.name: known}, urls={file.name: file.url}, retry_if_failed=RETRIES
        )
        try:
            came = Path(
                store.fetch(file.name, downloader=pooch.HTTPDownloader(progressbar=progress, timeout=TIMEOUT_S))
            )
        except ValueError:
            raise differs from None
        except (requests.RequestException, OSError) as error:
            what = f"cannot be fetched from {file.url} ({type(error).__name__}: {error})"
            raise DownloadError(what, path=path) from None
        if file.agrees(came) is False:  # known by git's name only, which the downloader cannot check
            raise differs
        path.parent.mkdir(parents=True, exist_ok=True)
        came.replace(path)
