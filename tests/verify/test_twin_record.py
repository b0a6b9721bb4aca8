"""What twins of the original cannot be given is said by its reason, and no twin runs without it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hvdkit.verify.hook.twin_record import Begun, Fetched, OfRank, Writer
from hvdkit.verify.hook.twin_replay import Replay


def recorded(folder: Path, batch: object, room: int) -> OfRank:
    """A pass with one batch, by a writer that has so many bytes left."""
    writer = Writer(folder)
    writer.left = room
    writer.put(0, Begun(0, 0, ("", 0), 2, 8, {}))
    writer.put(0, Fetched(0, batch, {}))
    writer.put(0, Fetched(0, batch, {}))
    return OfRank(folder, 0)


@pytest.mark.parametrize(
    ("batch", "room", "reason"),
    [
        (lambda: 0, 1 << 20, "a batch cannot be pickled"),
        (b"x" * 1000, 900, "the batches are larger than 1 GiB"),
        (b"x" * 1000, 1 << 20, ""),
    ],
)
def test_the_reason(tmp_path: Path, batch: object, room: int, reason: str) -> None:
    rank = recorded(tmp_path, batch, room)
    assert rank.lost.startswith(reason) and bool(rank.lost) is bool(reason)
    assert len(rank.passes[0].batches) == (0 if reason else 2)


def test_a_twin_of_a_rank_whose_batches_are_lost_does_not_run(tmp_path: Path) -> None:
    class Parted(Exception):
        pass

    def part(reason: str) -> None:
        raise Parted(reason)

    recorded(tmp_path, lambda: 0, 1 << 20)
    settings = SimpleNamespace(twins=str(tmp_path), path=tmp_path, world=1)
    recorder: Any = SimpleNamespace(settings=settings)
    peers: Any = SimpleNamespace(rank=0, part=part)
    with pytest.raises(Parted, match="cannot be pickled"):
        Replay(recorder, peers)
