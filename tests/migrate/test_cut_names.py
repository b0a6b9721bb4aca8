"""HVD206 in readers of checkpoints: an expression that cuts off the first part of a name, whatever it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options

TRAIN = """\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
model = DistributedDataParallel(torch.nn.Linear(1, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.ones(1, 1)).sum().backward()
optimizer.step()
if dist.get_rank() == 0:
    torch.save(model.state_dict(), "model.pt")
"""
READ = """\
import torch

model = torch.nn.Linear(1, 1)
state = torch.load("model.pt")
model.load_state_dict({{{}: value for key, value in state.items()}})
"""
CUTS = (
    "key[7:]",
    'key[len("module."):]',
    '".".join(key.split(".")[1:])',
    'key.split(".", 1)[1]',
    'key.partition(".")[2]',
    'key[key.index(".") + 1 :]',
)
KEEPS = (
    "key",
    'key.replace("module.", "")',
    'key.removeprefix("module.")',
    'key[7:] if key[:7] == "module." else key',
)


@pytest.mark.parametrize(
    ("name", "cut"), [*((name, True) for name in CUTS), *((name, False) for name in KEEPS)]
)
def test_a_name_without_module_is_cut(tmp_path: Path, name: str, cut: bool) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "score.py").write_text(READ.format(name))
    plan = make_plan([tmp_path], Options())
    found = {
        each.line for each in plan.left if each.rule == "HVD206" and "the first part is cut" in each.message
    }
    assert found == ({5} if cut else set())
