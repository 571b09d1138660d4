"""Work that takes longer than a request: started by a page, which polls its state; one at a time."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from truemoment.base.errors import TrueMomentError
from truemoment.web.pages.errors import PageError

MOST_JOBS = 50
"""Jobs that are remembered; the oldest that has ended is forgotten first."""

JobState = Literal["waiting", "running", "ready", "failed", "cancelled"]


class JobCancelledError(Exception):
    """The job was cancelled."""


@dataclass(eq=False)
class PageJob:
    """Work in the background.

    Parameters
    ----------
    name
        Random name, by which the page asks for it.
    state
        Where it is.
    done, total
        Progress, in steps.
    doing
        What is being done, in words; "" where that is not known.
    why
        Why it failed; "" if it did not.
    result
        The file that it made.
    """

    name: str
    state: JobState = "waiting"
    done: int = 0
    total: int = 0
    doing: str = ""
    why: str = ""
    result: Path | None = None
    _stop: threading.Event = field(default_factory=threading.Event)

    def progress(self, done: int, total: int) -> None:
        """Record how far the work is; raise if it was cancelled."""
        if self._stop.is_set():
            raise JobCancelledError
        self.done, self.total = done, total

    def cancel(self) -> None:
        """End the work at its next step."""
        self._stop.set()
        if self.state == "waiting":
            self.state = "cancelled"

    def as_json(self) -> dict[str, object]:
        """Return what the page sees."""
        return {"job": self.name, "state": self.state, "done": self.done, "total": self.total, "why": self.why}


class Jobs:
    """The jobs of a server; they run one after another, in a thread."""

    def __init__(self) -> None:
        self._jobs: dict[str, PageJob] = {}
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="job")

    def start(self, work: Callable[[PageJob], Path]) -> PageJob:
        """Start work; `work` returns the file that it made, and calls ``job.progress`` on its way."""
        job = PageJob(secrets.token_urlsafe(12))
        ended = [name for name, job in self._jobs.items() if job.state in ("ready", "failed", "cancelled")]
        for name in ended[: max(0, len(self._jobs) + 1 - MOST_JOBS)]:
            del self._jobs[name]
        if len(self._jobs) >= MOST_JOBS:
            raise PageError(429, "too many jobs wait; try again in a moment")
        self._jobs[job.name] = job
        self._pool.submit(self._run, job, work)
        return job

    def find(self, name: str) -> PageJob:
        """Return a job by its name."""
        if name not in self._jobs:
            raise PageError(404, "there is no such job")
        return self._jobs[name]

    def close(self) -> None:
        """Cancel what runs, and wait for its end."""
        for job in self._jobs.values():
            job.cancel()
        self._pool.shutdown(cancel_futures=True)

    @staticmethod
    def _run(job: PageJob, work: Callable[[PageJob], Path]) -> None:
        if job.state == "cancelled":
            return
        job.state = "running"
        try:
            job.result = work(job)
            job.state = "ready"
        except JobCancelledError:
            job.state = "cancelled"
        except TrueMomentError as error:
            job.why, job.state = str(error), "failed"
        except OSError as error:
            job.why, job.state = error.strerror or "the disk failed", "failed"
        except Exception as error:
            job.why, job.state = f"a bug of ours: {type(error).__name__}: {error}", "failed"
