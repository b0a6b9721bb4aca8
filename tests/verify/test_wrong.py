"""What `hvdkit migrate` once wrote and should not have: verify refutes each by its line."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from hvdkit.verify.judge import Verification
from hvdkit.verify.report import causes_of, details, verdict
from hvdkit.verify.scene import Request
from hvdkit.verify.session import verify

pytestmark = pytest.mark.launch

WRONG = Path(__file__).parent / "fixtures" / "wrong"


def compared(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, more: str = "") -> Verification:
    """As without options. more: to follow `reset(model)`."""
    shutil.copytree(WRONG / name, folder, dirs_exist_ok=True)
    monkeypatch.chdir(folder)
    migrated = Path("wrong.py")
    migrated.write_text(
        migrated.read_text().replace("reset(model)\n        train", f"reset(model)\n{more}        train")
    )
    request = Request(Path("original.py"), migrated, reach=True)
    return verify(request, lambda line: print(line, file=sys.stderr))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (
            "evaluation_share",
            "wrong.py:37",
        ),  # a loader that evaluates is divided, and a broadcast is no reduction
        ("named_by_metric", "wrong.py:35"),  # rank 1 loads by its own metric what rank 0 has named by another
        ("drawn_below_broadcast", "wrong.py:38"),
        ("folds", "wrong.py:27"),
    ],
)
def test_refuted(tmp_path, monkeypatch, name, line):
    result = compared(tmp_path, monkeypatch, name)
    shown = [
        verdict(result),
        *details(result),
        *(held.detail for held in result.invariants if not held.holds),
    ]
    assert result.code == 1
    assert any(line in each for each in shown)
    assert name == "named_by_metric" or result.causes or causes_of(result.invariants)


def test_weights_that_are_sent_for_each_fold_agree(tmp_path, monkeypatch):
    """Each fold's weights are drawn anew, by each twin for itself; a single process has them once."""
    send = "        hvd.broadcast_parameters(model.state_dict(), root_rank=0)\n"
    result = compared(tmp_path, monkeypatch, "folds", send)
    assert result.holds and result.comparison.identical
    assert result.comparison.original.world == 2
