"""Buffers of every rank are compared where DDP leaves them to the ranks, as Horovod does."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.observe.records import DDP, SENDS_BUFFERS, Event, Run, Step
from hvdkit.verify.differences import pairs_of


@pytest.mark.parametrize(
    ("events", "own"), [((DDP,), [True, True]), ((DDP, SENDS_BUFFERS), [True, False]), ((), [True, False])]
)
def test_whose_buffers_are_compared(events: tuple[str, ...], own: list[bool]) -> None:
    def run(*seen: str) -> Run:
        return Run(Path(), {rank: (Step(0, 1, (), (), events=tuple(map(Event, seen))),) for rank in (0, 1)})

    assert [pair.own_buffers for pair in pairs_of(run(*events), run())] == own
