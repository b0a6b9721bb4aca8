"""How far a run goes: a number of steps, or until it has reached what the program has, within a budget."""

from __future__ import annotations

import time
from collections.abc import Iterable

from hvdkit.observe.records import Event
from hvdkit.verify.hook.settings import Settings
from hvdkit.verify.reached import reached_by


class Extent:
    """What a run has reached so far."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.left = set(settings.until)
        self.begun = time.monotonic()

    def note(self, events: Iterable[Event], writes: Iterable[str], loader: int) -> None:
        """This has come between two steps."""
        self.left -= reached_by(events, writes, loader)

    def is_done(self, steps: int) -> bool:
        """Whether a run may end that has taken so many steps of each optimizer."""
        if steps >= self.settings.steps:
            return True
        if not self.settings.until or steps < self.settings.least:
            return False
        return not self.left or time.monotonic() - self.begun > self.settings.seconds
