"""A split that is drawn by other random numbers: the original is given the job's, unless that is none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, Subset, SubsetRandomSampler, TensorDataset

from hvdkit.observe.records import TO_END
from hvdkit.verify.hook.samples import Bases
from hvdkit.verify.hook.splits import Splits
from hvdkit.verify.scene import Request
from hvdkit.verify.session import verify

PART = "of TensorDataset of 12"


class Scaled(Dataset):
    """Wraps a part sample by sample, as transforms do."""

    def __init__(self, part: Dataset) -> None:
        self.part = part

    def __len__(self) -> int:
        return len(self.part)

    def __getitem__(self, place: int) -> torch.Tensor:
        return self.part[place][0] * 2


def parts(splits: Splits, trained: list[int], *others: list[int]) -> tuple[list[str], list[list[int]]]:
    """What loaders of these samples are given, and which samples they have."""
    data = TensorDataset(torch.arange(12.0))
    subset = Subset(data, trained)
    samplers = [SubsetRandomSampler(places) for places in others]
    given = [splits.make(DataLoader(Scaled(subset)))]
    given += [splits.make(DataLoader(data, sampler=sampler)) for sampler in samplers]
    held = [[int(subset[place][0]) for place in range(len(subset))]]
    return given, [*held, *([*map(int, sampler.indices)] for sampler in samplers)]


@pytest.mark.parametrize(
    ("theirs", "given"),
    [
        (([4, 5, 6, 7, 8, 9, 10, 11], [0, 1, 2, 3]), True),
        (([0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11]), False),  # the same samples
        (([4, 5, 6, 7, 8, 9, 10, 11], [4, 5, 6, 7]), False),  # it evaluates on what it trains on
        (([6, 7, 8, 9, 10, 11], [0, 1, 2, 3, 4, 5]), False),  # parts of another size
    ],
)
def test_a_split_is_taken(tmp_path, theirs, given):
    own = [0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11]
    told, _ = parts(Splits(Bases(), tmp_path, None), *theirs)
    assert told == ["", ""]
    told, held = parts(Splits(Bases(), None, tmp_path), *own)
    assert held == [*(theirs if given else own)]
    assert told == ([f"8 samples {PART}", f"4 samples {PART}"] if given else ["", ""])


SCRIPT = """\
import random
import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

torch.manual_seed(0)
x = torch.randn(40, 3, generator=torch.Generator().manual_seed(1))
data = TensorDataset(x, x.sum(1, keepdim=True))
order = list(range(40))
random.shuffle(order)
train = Subset(data, order[8:])
loader = DataLoader(train, batch_size=4, shuffle=True)
valid = DataLoader(Subset(data, order[:8]), batch_size=4)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(2):
    for a, b in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(a), b).backward()
        optimizer.step()
    with torch.no_grad():
        error = sum(nn.functional.mse_loss(model(a), b).item() for a, b in valid) / len(valid)
    print(f"epoch {epoch}: {error:.6f}")
"""
MIGRATED = (
    ("import torch\n", "import horovod.torch as hvd\nimport torch\n"),
    ("torch.manual_seed(0)", "hvd.init()\ntorch.manual_seed(0)"),
    ("random.shuffle", "random.Random(0).shuffle"),
    (
        "loader = DataLoader(train, batch_size=4, shuffle=True)",
        "sampler = torch.utils.data.DistributedSampler(train, hvd.size(), hvd.rank())\n"
        "loader = DataLoader(train, batch_size=4, sampler=sampler)",
    ),
    (
        "lr=0.05)\n",
        "lr=0.05)\noptimizer = hvd.DistributedOptimizer(optimizer, model.named_parameters())\n"
        "hvd.broadcast_parameters(model.state_dict(), root_rank=0)\n",
    ),
    ("    for a, b in loader:", "    sampler.set_epoch(epoch)\n    for a, b in loader:"),
)


@pytest.mark.launch
@pytest.mark.parametrize(("wrong", "agrees"), [((), True), (("order[:8]", "order[8:16]"), False)])
def test_a_migration_splits_by_its_own_numbers(tmp_path, monkeypatch, wrong, agrees):
    """Verify refused it; an evaluation on samples that are trained on is still refused."""
    monkeypatch.chdir(tmp_path)
    text = SCRIPT
    for before, after in (*MIGRATED, *([wrong] if wrong else [])):
        assert before in text
        text = text.replace(before, after)
    Path("train.py").write_text(SCRIPT)
    Path("train_hvd.py").write_text(text)
    request = Request(Path("train.py"), Path("train_hvd.py"), steps=TO_END)
    result = verify(request, lambda line: print(line, file=sys.stderr))
    assert result.holds is agrees
    if agrees:
        assert result.comparison.identical and not result.unchecked
        assert any("given its parts: 32 samples" in note for note in result.notes)
