"""A single-process original: it is run as two twins, which the migrated equals; invariants for the rest."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from hvdkit.verify.differences import Stage
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
    assert result.comparison.original.world == 2 and result.code == 0
    names = [invariant.name for invariant in result.invariants]
    assert "ranks train on different samples" in names and "together they train on all samples" in names
    assert any("it was run as 2 processes" in note for note in result.notes)


def test_wrong_on_two_ranks_only(tmp_path, monkeypatch):
    """No value of the original shows all of these: shards, a file written by all."""
    result = verified(
        tmp_path,
        monkeypatch,
        ("sampler=sampler", "shuffle=True"),
        ("hvd.broadcast_parameters(model.state_dict(), root_rank=0)\n", ""),
        ("if hvd.rank() == 0:", "if True:"),
        ("0.1 * hvd.size()", "0.1 * hvd.size() * hvd.size()"),
        steps=9,
    )
    first = result.comparison.differences[0]
    assert (first.stage, first.step, first.rank) == (Stage.PARAMETER, 0, 1)
    assert [cause.rule for cause in result.causes] == ["HVD402"]
    assert Stage.RATE in {difference.stage for difference in result.comparison.differences}
    failed = {invariant.name for invariant in result.invariants if not invariant.holds}
    assert failed == {
        "all ranks hold the same parameters after each step",
        "ranks train on different samples",
        "each file has one writer",
    }


def test_a_sum_in_one_order_of_samples(tmp_path, monkeypatch):
    """An average that is none, and a shuffle that is the same in each epoch, which is the job's to choose."""
    result = verified(
        tmp_path,
        monkeypatch,
        ("hvd.DistributedOptimizer(optimizer,", "hvd.DistributedOptimizer(optimizer, op=hvd.Sum,"),
        ("    sampler.set_epoch(epoch)\n", ""),
        steps=9,
    )
    first = result.comparison.differences[0]
    assert (first.stage, first.step) == (Stage.GRADIENT, 1)
    assert "summed, not averaged" in result.causes[0].text
    failed = {inv.name: inv for inv in result.invariants if not inv.holds}
    assert set(failed) == {"each epoch has a different order"}
    assert failed["each epoch has a different order"].detail == "epoch 1 has the order of epoch 0 on rank 0"


def test_another_model_is_seen_on_one_rank(tmp_path, monkeypatch):
    result = verified(tmp_path, monkeypatch, ("momentum=0.9", "momentum=0.8"), world=1)
    first = result.comparison.differences[0]
    assert (first.stage.value, first.name, first.step) == ("setting", "momentum of group 0", 0)
