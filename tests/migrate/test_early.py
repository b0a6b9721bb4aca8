"""What stands above a broadcast or above hvd.init(), and should not: the row is open, with the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.migrate.plan import State
from tests.migrate.test_conditions import GOOD, STARTS, WEIGHTS, table

COPIES = f"import copy\n{GOOD}"
MODEL = "    model = torch.nn.Linear(2, 1).cuda()\n"
SENT = "    hvd.broadcast_parameters(model.state_dict(), root_rank=0)\n"


@pytest.mark.parametrize("copied", ["copy.deepcopy(model)", "copy.deepcopy(model.weight)"])
def test_a_copy_from_above_the_broadcast_keeps_its_own_weights(tmp_path: Path, copied: str) -> None:
    early = COPIES.replace(MODEL, f"{MODEL}    teacher = {copied}\n")
    row = table(tmp_path, early)[WEIGHTS]
    assert row.state is State.OPEN
    assert row.detail == "teacher keeps each rank's own weights, copied above the broadcast at train.py:15"


def test_one_that_is_broadcast_too_does_not(tmp_path: Path) -> None:
    early = COPIES.replace(MODEL, f"{MODEL}    teacher = copy.deepcopy(model)\n")
    sent = early.replace(SENT, SENT + SENT.replace("model", "teacher"))
    assert table(tmp_path, sent)[WEIGHTS].state is State.PROVEN


def test_one_from_below_the_broadcast_does_not(tmp_path: Path) -> None:
    late = COPIES.replace(SENT, f"{SENT}    teacher = copy.deepcopy(model)\n")
    assert table(tmp_path, late)[WEIGHTS].state is State.PROVEN


def test_ranks_that_draw_the_same_have_the_same_copies(tmp_path: Path) -> None:
    early = COPIES.replace(MODEL, f"    torch.manual_seed(0)\n{MODEL}    teacher = copy.deepcopy(model)\n")
    assert table(tmp_path, early)[WEIGHTS].state is State.PROVEN


ASKS = "def settings():\n    return hvd.local_rank()\n\n"


@pytest.mark.parametrize(
    ("before", "call"),
    [("", "    hvd.size()\n"), (ASKS, "    settings()\n"), (ASKS, "    hvd.init(settings())\n")],
    ids=["itself", "in a function", "in the arguments of init"],
)
def test_a_call_above_init_is_early(tmp_path: Path, before: str, call: str) -> None:
    init = "    hvd.init()\n"
    text = GOOD.replace(init, call if "init" in call else call + init).replace(
        "def main", f"{before}def main"
    )
    row = table(tmp_path, text)[STARTS]
    assert row.state is State.OPEN
    assert "above hvd.init()" in row.detail


@pytest.mark.parametrize(
    "lines",
    [
        # The object is made before its method runs.
        "class Job:\n    def __init__(self):\n        hvd.init()\n"
        "    def run(self):\n        hvd.size()\nJob().run()\n",
        # The first round of a loop may start what the next one asks.
        "for n in range(2):\n    if n:\n        hvd.size()\n    hvd.init()\n",
        # Nothing is seen to call it.
        "def hook():\n    hvd.size()\n",
    ],
)
def test_what_may_run_below_init_is_not(tmp_path: Path, lines: str) -> None:
    assert table(tmp_path, GOOD.replace("def main", f"{lines}def main"))[STARTS].state is State.PROVEN
