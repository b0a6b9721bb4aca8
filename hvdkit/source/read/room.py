"""Room on the stack for what a person's program nests or chains deeply.

Rules and facts walk trees and follow values by calling themselves, a few calls for each link: a model of four
hundred layers, each made from the one before, is deeper than the thousand calls that Python allows. So they
run in a thread of their own, whose stack holds as many calls as FRAMES.
"""

from __future__ import annotations

import functools
import sys
import threading
from pathlib import Path
from typing import Callable, TypeVar

from hvdkit.errors import HvdkitError

T = TypeVar("T")

FRAMES = 32_000
STACK = 256 << 20  # bytes, of which only what is used takes memory: Python 3.9 needs up to 2 KB a call


class TooDeepError(HvdkitError):
    """A program is nested or chained more deeply than can be followed."""


class TooManyQuestions(HvdkitError):
    """The values of a file lead to each other in more ways than can be followed in a useful time."""

    def __init__(self, path: Path, line: int) -> None:
        super().__init__(
            f"{path} could not be followed, line {line}: its values lead to each other in too many ways",
            "what it does is not known; no file was changed",
            "move the code around this line into functions of their own, or leave the file out",
        )
        self.path = path
        self.line = line


def roomy(work: Callable[..., T]) -> Callable[..., T]:
    """The same function, run where the stack has room. Raises TooDeepError where even that is too little."""

    @functools.wraps(work)
    def in_room(*args: object, **kwargs: object) -> T:
        if sys.getrecursionlimit() >= FRAMES:
            return work(*args, **kwargs)
        return _run(functools.partial(work, *args, **kwargs))

    return in_room


def _run(work: Callable[[], T]) -> T:
    results: list[T] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # raised again in the caller's thread
            failures.append(error)

    # A daemon: Ctrl-C ends the command at once.
    thread = threading.Thread(target=run, name="hvdkit", daemon=True)
    limit, size = sys.getrecursionlimit(), threading.stack_size(STACK)
    sys.setrecursionlimit(FRAMES)
    try:
        thread.start()
        thread.join()
    except RuntimeError as error:
        raise HvdkitError(
            f"a stack of {STACK >> 20} MB is not available: {error}",
            "long chains of values are followed on it",
            "ulimit -v unlimited",
        ) from error
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    if not failures:
        return results[0]
    failure = failures.pop()
    if isinstance(failure, RecursionError):
        raise TooDeepError(
            "a chain of values, or of expressions, is too long to follow",
            f"each link uses several of at most {FRAMES} nested calls; no file was changed",
            "build the chain in a loop, or pass the files one by one to find the one that contains it",
        ) from failure
    raise failure
