"""A single-process original: bit for bit on one rank, invariants on two."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from hvdkit.verify.scale import NAME
from hvdkit.verify.scene import Request
from hvdkit.verify.session import verify

pytestmark = pytest.mark.launch

FIXTURES = Path(__file__).parent / "fixtures"


def verified(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *edits: tuple[str, str], steps: int = 5, world: int = 2
):
    shutil.copytree(FIXTURES / "single", folder / "single")
    monkeypatch.chdir(folder / "single")
    script = Path("migrated.py")
    for old, new in edits:
        assert old in script.read_text()
        script.write_text(script.read_text().replace(old, new))
    return verify(
        Request(Path("original.py"), script, steps=steps, world=world),
        lambda line: print(line, file=sys.stderr),
    )


def test_right(tmp_path, monkeypatch):
    result = verified(tmp_path, monkeypatch, steps=9)
    assert result.holds and result.comparison.identical
    assert result.comparison.original.world == 1
    names = [invariant.name for invariant in result.invariants]
    assert "ranks train on different samples" in names and "together they train on all samples" in names
    assert any("replayed" in note for note in result.notes)


def test_wrong_on_two_ranks_only(tmp_path, monkeypatch):
    """One rank cannot show these: no shards, nothing to broadcast, a file written by all."""
    result = verified(
        tmp_path,
        monkeypatch,
        ("sampler=sampler", "shuffle=True"),
        ("hvd.broadcast_parameters(model.state_dict(), root_rank=0)\n", ""),
        ("if hvd.rank() == 0:", "if True:"),
        ("0.1 * hvd.size()", "0.1 * hvd.size() * hvd.size()"),
        steps=9,
    )
    assert result.comparison.identical and not result.holds
    failed = {invariant.name for invariant in result.invariants if not invariant.holds}
    assert failed == {
        "all ranks hold the same parameters after each step",
        "ranks train on different samples",
        "the learning rate is the original's, or scaled by the number of ranks",
        "each file has one writer",
    }


def test_a_sum_in_one_order_of_samples(tmp_path, monkeypatch):
    """Neither shows on one rank: an average that is none, and a shuffle that is the same in each epoch."""
    result = verified(
        tmp_path,
        monkeypatch,
        ("hvd.DistributedOptimizer(optimizer,", "hvd.DistributedOptimizer(optimizer, op=hvd.Sum,"),
        ("    sampler.set_epoch(epoch)\n", ""),
        steps=9,
    )
    assert result.comparison.identical and not result.holds
    failed = {inv.name: inv for inv in result.invariants if not inv.holds}
    assert set(failed) == {NAME, "each epoch has a different order"}
    assert failed[NAME].detail.endswith("is 2 times that of the same batches in one process, step 1")
    assert failed["each epoch has a different order"].detail == "epoch 1 has the order of epoch 0 on rank 0"


def test_another_model_is_seen_on_one_rank(tmp_path, monkeypatch):
    result = verified(tmp_path, monkeypatch, ("momentum=0.9", "momentum=0.8"), world=1)
    first = result.comparison.differences[0]
    assert (first.stage.value, first.step) == ("parameter", 2)
