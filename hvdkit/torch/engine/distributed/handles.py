"""Operations under way: what the functions that end in `async` return, `poll` and `synchronize`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Callable, Protocol


class HorovodInternalError(RuntimeError):
    """A collective failed: a different rank ended, or sent something else. Horovod's error of this name."""


class Work(Protocol):
    """What torch.distributed returns for an operation with async_op=True."""

    def is_completed(self) -> bool:
        """Whether `wait` returns at once."""

    def wait(self) -> Any:
        """Block until the operation is done; on a GPU, make the current stream wait for it."""


class Handle:
    """Some operations, and what makes one result of them. `finish` runs once, after all are done."""

    def __init__(self, works: Iterable[Work], finish: Callable[[], Any]) -> None:
        self._works = list(works)
        self._finish: Callable[[], Any] | None = finish

    def done(self) -> bool:
        """Whether `result` returns without blocking."""
        return all(work.is_completed() for work in self._works)

    def result(self) -> Any:
        """Wait, and return the result. A second call returns None, as Horovod's does.

        Raises HorovodInternalError where an operation failed.
        """
        if self._finish is None:
            return None
        finish, self._finish = self._finish, None
        try:
            for work in self._works:
                work.wait()
        except RuntimeError as error:
            raise HorovodInternalError(str(error)) from error
        return finish()

    def then(self, change: Callable[[Any], Any]) -> Handle:
        """The same operations with a different result."""
        return Handle([_Whole(self)], lambda: change(self.result()))


class _Whole:
    """A handle as an operation of a different handle."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def is_completed(self) -> bool:
        """See Work."""
        return self._handle.done()

    def wait(self) -> None:
        """Nothing: `result` waits."""


def poll(handle: Handle) -> bool:
    """Whether `synchronize(handle)` returns without blocking."""
    return handle.done()


def synchronize(handle: Handle) -> Any:
    """Wait for an operation, and return its result."""
    return handle.result()
