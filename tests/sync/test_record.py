"""When a watched process records its state, and what its end of the lifeline makes of the folder."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader

from hvdkit.launch import follower
from hvdkit.launch.follower import Follower
from hvdkit.sync.folder import Reader, Writer, prepare
from hvdkit.sync.keys import Keys
from hvdkit.watch.record import Record


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    prepare(tmp_path)
    return tmp_path


def optimizer() -> torch.optim.Optimizer:
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(2))], lr=0.1)


@pytest.mark.parametrize(
    ("epoch", "steps", "recorded"),
    [
        (12, 450, [1, 10, 100, 200, 300, 400]),
        (250, 1200, [1, 10, 100, 251, 501, 751, 1000, 1100]),
        (2000, 1200, [1, 10, 100, 1000]),
    ],
)
def test_states_are_recorded_to_the_end_of_a_job(
    folder: Path, monkeypatch: pytest.MonkeyPatch, epoch: int, steps: int, recorded: list[int]
) -> None:
    """At steps 1, 10, 100, 1,000 and as an epoch begins, at most once in 100 steps."""
    monkeypatch.setattr(DataLoader, "__iter__", DataLoader.__iter__)  # put back at the end
    record, one = Record(folder), optimizer()
    record.watch_epochs()
    found: list[int] = []
    monkeypatch.setattr(record, "_record", lambda _, step: found.append(step))
    loader: DataLoader[Any] = DataLoader(range(epoch))  # type: ignore[arg-type]
    taken = 0
    while taken < steps:
        for _ in loader:
            taken += 1
            record.stepped(one, taken)
    assert [step for step in found if step <= steps] == recorded


def test_an_error_while_recording_is_the_watchs_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = Record(folder)

    def fails(*_: object) -> None:
        raise KeyError(3)

    monkeypatch.setattr(record, "_record", fails)
    record.stepped(optimizer(), 1)
    assert Reader(folder).events() == [{"fault": "recording step 1 of SGD: KeyError: 3"}]


def test_alike_optimizers_of_overlapping_process_sets_have_the_same_keys_on_their_ranks() -> None:
    """Rank 0 is in both sets, and every other rank in one of them."""
    first, second, third = Keys(), Keys(), Keys()
    on_first = [first.of(optimizer(), lambda ranks=ranks: (ranks, "shapes")) for ranks in ([0, 1], [0, 2])]
    assert on_first == [
        second.of(optimizer(), lambda: ([0, 1], "shapes")),
        third.of(optimizer(), lambda: ([0, 2], "shapes")),
    ]


def test_where_a_process_stands_is_asked_again_until_it_moves(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LOOK_S", "STALL_S", "AGAIN_S"):
        monkeypatch.setattr(follower, name, 0.1)
    monkeypatch.setattr(follower.stack, "ask", lambda *_: [])
    sent: list[dict[str, Any]] = []
    writer = Writer(folder)
    writer.at(3, True)
    following = Follower(folder, 0, lambda message: sent.append(message["watch"]))

    def wait_for(kinds: list[str]) -> None:
        end = time.monotonic() + 30
        while [next(iter(message)) for message in sent][: len(kinds)] != kinds:
            assert time.monotonic() < end, sent
            time.sleep(0.05)

    wait_for(["at", "stack", "stack", "stack"])
    del sent[:]
    writer.called()  # a collective has ended: what it stood in before says nothing any more
    end = time.monotonic() + 30
    while not any("at" in message for message in sent):
        assert time.monotonic() < end, sent
        time.sleep(0.05)
    (folder / "at").write_bytes(b"half")
    following.end()
    assert all(set(message) <= {"at", "stack"} for message in sent)
