"""Fetching openly published annotation files, with checksums."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from truemoment.base.boundary.folders import FETCHING, temporary_folder
from truemoment.base.boundary.own_path import open_regular
from truemoment.base.errors import DownloadError, UsageError
from truemoment.data.datasets.base import WHY_NOT_FETCHED, Dataset, SourceFile

if TYPE_CHECKING:
    import requests

TIMEOUT_S = 30
RETRIES = 2

MOST_BYTES = 64 << 20
"""Bytes of a file whose length is not recorded, at most; the longest annotation file that is recorded has 4 MB."""


def fetch(
    dataset: Dataset, data_dir: Path, *, progress: bool = False, on_status: Callable[[str], None] = lambda _: None
) -> list[Path]:
    """Download the missing annotation files of a dataset, and return all its files.

    Each file appears under its name only when complete and verified; an interrupted call can be repeated. Existing
    files that differ are never overwritten.

    Parameters
    ----------
    dataset
        The dataset.
    data_dir
        Folder with (or for) one folder per dataset.
    progress
        Show a bar on standard error.
    on_status
        Called with a line per file.
    """
    if dataset.access != "open":
        raise UsageError(
            f"{dataset.name} {WHY_NOT_FETCHED[dataset.access]} and cannot be fetched: {'; '.join(dataset.steps)}"
        )
    folder = data_dir / dataset.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DownloadError(f"cannot be made ({error.strerror})", path=folder) from None
    paths = []
    for file in dataset.files:
        path = folder / file.name
        if path.is_file():
            if file.agrees(path) is False:
                raise DownloadError(
                    "is there, and its content is not the published one (checksum)",
                    path=path,
                    hint="move it away to have it fetched",
                )
            on_status(f"{path}: there already")
        elif os.path.lexists(path):
            raise DownloadError("is a folder or a broken link", path=path, hint="move it away to have the file fetched")
        else:
            try:
                _download(file, folder, progress=progress)
            except OSError as error:
                raise DownloadError(f"cannot be written ({error.strerror or error})", path=path) from None
            on_status(f"{path}: fetched from {file.url}")
        paths.append(path)
    return paths


def _download(file: SourceFile, folder: Path, *, progress: bool) -> None:
    """Download into a temporary folder, check, and only then move the file to its place."""
    import pooch  # noqa: PLC0415 - only fetching needs it, and importing takes time
    import requests  # noqa: PLC0415 - comes with pooch

    pooch.get_logger().setLevel(logging.ERROR)
    checksum = f"sha256:{file.sha256}" if file.sha256 else None
    path = folder / file.name
    differs = DownloadError(
        f"the download from {file.url} is not the published file (checksum)", path=path, hint="nothing was kept"
    )
    with temporary_folder(folder, FETCHING) as temporary:
        store = pooch.create(
            path=temporary.path,
            base_url="",
            registry={file.name: checksum},
            urls={file.name: file.url},
            retry_if_failed=RETRIES,
        )
        try:
            download = Path(store.fetch(file.name, downloader=_Downloader(file, path, progress=progress)))
        except ValueError:
            raise differs from None
        except (requests.RequestException, OSError) as error:
            if "Max retries exceeded" in str(error):  # never connected; the text repeats the address, and is long
                raise DownloadError(
                    f"cannot be fetched, there is no connection to {urlsplit(file.url).netloc}",
                    path=path,
                    hint=f"'truemoment datasets info {folder.name}' shows the addresses, to fetch the files elsewhere",
                ) from None
            problem = f"cannot be fetched from {file.url} ({type(error).__name__}: {error})"
            raise DownloadError(problem, path=path) from None
        if file.agrees(download) is False:  # known by git's name only, which the downloader cannot check
            raise differs
        with open_regular(download, "r+b") as stream:
            os.fsync(stream.fileno())  # a power cut must not leave half of it under its name
        path.parent.mkdir(parents=True, exist_ok=True)
        download.replace(path)


class _Downloader:
    """Downloader for pooch that reads no more bytes than the file may have; `path` is for messages."""

    def __init__(self, file: SourceFile, path: Path, *, progress: bool) -> None:
        self.file, self.path, self.progress = file, path, progress
        self.most = file.n_bytes or MOST_BYTES

    def __call__(self, url: str, place: str, store: Any) -> None:  # noqa: ANN401 - pooch is imported late, untyped
        """Download into a file, up to its length."""
        import pooch  # noqa: PLC0415 - only fetching needs it

        download = pooch.HTTPDownloader(
            progressbar=self.progress, timeout=TIMEOUT_S, hooks={"response": self._refuse_by_header}
        )
        with open_regular(Path(place), "wb") as stream:
            download(url, _Bounded(stream, self.refuse_longer), store)

    def refuse_longer(self, n_bytes: int) -> None:
        """Refuse a length."""
        if n_bytes > self.most:
            expected = f"{self.most:,} bytes" + ("" if self.file.n_bytes else " at most")
            came = f"the download from {self.file.url} is longer than the file, expected {expected}"
            raise DownloadError(came, path=self.path, hint="nothing was kept")

    def _refuse_by_header(self, response: requests.Response, *_: Any, **__: Any) -> None:  # noqa: ANN401 - a hook's
        length = response.headers.get("Content-Length", "")
        if length.isdecimal():
            self.refuse_longer(int(length[:20]))


class _Bounded:
    """A stream that is written to up to a length."""

    def __init__(self, stream: IO[bytes], refuse_longer: Callable[[int], None]) -> None:
        self._stream, self._refuse_longer = stream, refuse_longer
        self._length = 0

    def write(self, data: bytes) -> int:
        self._length += len(data)
        self._refuse_longer(self._length)
        return self._stream.write(data)

    def flush(self) -> None:
        self._stream.flush()
