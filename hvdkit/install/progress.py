"""How far a build is, from make's own `[ 42%]`: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator

from hvdkit.console import console

_PERCENT = re.compile(r"^\s*\[\s*(\d{1,3})%\]")
_EVERY = 10


def percent(line: str) -> int | None:
    """The percentage at the start of one line of make's output, None where there is none."""
    match = _PERCENT.match(line)
    return int(match.group(1)) if match else None


@contextlib.contextmanager
def shown(title: str) -> Iterator[Callable[[str], None]]:
    """Yields a function that takes each line of the build's output; shows progress on stderr."""
    if sys.stderr.isatty():
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        with Progress(*columns, console=console(sys.stderr, wraps=True)) as bars:
            task = bars.add_task(title, total=100)
            yield _rising(lambda done: bars.update(task, completed=done))
    else:
        next_line = 0

        def report(done: int) -> None:
            nonlocal next_line
            if done >= next_line:
                print(f"{title}: {done} %", file=sys.stderr, flush=True)
                next_line = done - done % _EVERY + _EVERY

        yield _rising(report)


def _rising(report: Callable[[int], None]) -> Callable[[str], None]:
    """Calls `report` with a new maximum only: several makes that run at once do not count in order."""
    highest = -1

    def take(line: str) -> None:
        nonlocal highest
        done = percent(line)
        if done is not None and done > highest:
            highest = done
            report(done)

    return take
