"""Libraries that no table has: what is installed is read, and never imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.source.project.installed_source import installed_source

TRAIN = """\
import torch
import torch.distributed as dist
from sidelib.common import {module}
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
model = DistributedDataParallel(torch.nn.Linear(1, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = TensorDataset(torch.ones(8, 1))
sampler = DistributedSampler(data)
for epoch in range(2):
    sampler.set_epoch(epoch)
    for (x,) in DataLoader(data, batch_size=4, sampler=sampler):
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
    print({module}.reduced(loss))
"""
ASKING = "import torch.distributed as dist\n\ndef reduced(x):\n    return x / dist.get_world_size()\n"
SILENT = "raise SystemExit('imported')\n\ndef reduced(x):\n    return x\n"


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "installed" / "sidelib" / "common"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (package / "asking.py").write_text(ASKING)
    (package / "silent.py").write_text(SILENT)
    monkeypatch.syspath_prepend(tmp_path / "installed")


@pytest.mark.parametrize(("module", "stays"), [("asking", True), ("silent", False)])
def test_the_group_stays_for_a_library_that_asks_for_it(tmp_path: Path, module: str, stays: bool) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(TRAIN.format(module=module))
    plan = make_plan([project], Options())
    assert ("HVD115" in {finding.rule for finding in plan.findings}) is stays


def test_what_is_not_there_has_no_source() -> None:
    assert installed_source("sidelib.common.asking.reduced") == ASKING
    assert installed_source("no_such_library.part") == ""
    assert installed_source("math.floor") == ""
