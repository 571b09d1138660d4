"""Parts of a task on a Ray cluster, each opened once by an actor, which then answers any number of questions."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from truemoment.base.boundary.distribution.cluster import failed_worker, ray_cluster
from truemoment.base.errors import UsageError

P = TypeVar("P")
Q = TypeVar("Q")
R = TypeVar("R")

RESTARTS = 2
"""How often an actor whose process or machine dies begins again, elsewhere if need be, and answers once more."""


@contextlib.contextmanager
def ray_actors(
    open_part: Callable[[P], Callable[[Q], R]], parts: Callable[[int], Sequence[P]], workers: int | None, *, needs: str
) -> Iterator[Callable[[Q], list[R]]]:
    """Spread the parts of a task over a cluster until the block is left; yield a function that asks all of them.

    An answer has one result for each part, in the order of the parts; a part that fails raises InputError.

    Parameters
    ----------
    open_part
        Opens a part in the process of its actor, and returns the function that answers questions.
    parts
        Divides the task among so many actors, at most.
    workers
        Number of actors. None for all cores of the cluster.
    needs
        What every machine needs besides TrueMoment.
    """
    with ray_cluster(workers) as ray:
        n_cores = int(ray.cluster_resources().get("CPU", 1))
        if workers is not None and workers > n_cores:
            raise UsageError(f"got {workers:,} workers, expected up to {n_cores:,}: the cores of the cluster")
        actor = ray.remote(num_cpus=1, max_restarts=RESTARTS, max_task_retries=RESTARTS, scheduling_strategy="SPREAD")(
            _Part
        )
        actors = [actor.remote(open_part, part) for part in parts(workers or n_cores)]
        opening = [each.open.remote() for each in actors]  # nobody waits: errors come with the first answer

        def ask(question: Q) -> list[R]:
            shared = ray.put(question)
            try:
                results: list[R] = ray.get([each.ask.remote(shared) for each in actors])
            except ray.exceptions.RayError as error:
                raise failed_worker(error, needs) from None
            return results

        try:
            yield ask
        finally:
            del opening
            for each in actors:
                ray.kill(each)


class _Part(Generic[P, Q, R]):
    """A part in the process of its actor."""

    def __init__(self, open_part: Callable[[P], Callable[[Q], R]], part: P) -> None:
        self._open_part, self._part = open_part, part

    @functools.cached_property
    def _answer(self) -> Callable[[Q], R]:
        return self._open_part(self._part)

    def open(self) -> None:
        """Open the part, so that the first question does not wait for it."""
        _ = self._answer

    def ask(self, question: Q) -> R:
        """Return what the part answers."""
        return self._answer(question)
