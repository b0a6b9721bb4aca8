"""Ordinary ways to write a guard, a seed, a share or a stop: what the verdict says of each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import State

FORMS = Path(__file__).parent / "forms"
ROWS = {
    "writers": "files are written by rank 0 only",
    "shares": "training data is sharded by rank",
    "orders": "each epoch has a different order",
    "averages": "every optimizer averages gradients",
    "weights": "ranks start from the same weights",
    "meetings": "collectives meet",
    "settings": "ranks train with the same settings",
}
SCRIPT = """\
import argparse, contextlib, copy, csv, enum, functools, itertools, json, logging, math
import os, pickle, random, time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Subset, TensorDataset, random_split
from torch.utils.data.distributed import DistributedSampler

{top}

def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    size = dist.get_world_size()
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.manual_seed(0)
    data = TensorDataset(torch.linspace(-1, 1, 64).reshape(64, 1), torch.linspace(1, 3, 64).reshape(64, 1))
{data}
    model = nn.Linear(1, 1)
{model}
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
{opt}
    for epoch in range(3):
{begin}
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
{epoch}
{end}
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
"""
# Each part of the script, by how far it is indented, and what stands there unless a form says something else.
PARTS = {
    "top": (0, ""),
    "data": (
        4,
        "sampler = DistributedSampler(data)\nloader = DataLoader(data, batch_size=4, sampler=sampler)",
    ),
    "model": (4, ""),
    "opt": (4, ""),
    "begin": (8, "sampler.set_epoch(epoch)"),
    "epoch": (8, ""),
    "end": (4, ""),
}


def script(form: str) -> str:
    """The script of a form."""
    parts: dict[str, list[str]] = {}
    part = "end"
    for line in form.splitlines():
        if line[:1] == "@" and line[1:] in PARTS:
            part = line[1:]
            parts[part] = []
        else:
            parts.setdefault(part, []).append(line)
    texts = {name: "\n".join(parts.get(name, [default])) for name, (_, default) in PARTS.items()}
    return SCRIPT.format(**{name: indent(texts[name], " " * depth) for name, (depth, _) in PARTS.items()})


def forms() -> Iterator[tuple[str, str, str, str]]:
    """Each form: the row that it is about, its name, what is expected of it, and its text."""
    for file, row in ROWS.items():
        for block in (FORMS / f"{file}.txt").read_text().split("### ")[1:]:
            head, _, text = block.partition("\n")
            name, _, expected = head.partition(" | ")
            yield row, name, expected, text


@pytest.mark.parametrize(
    ("row", "name", "expected", "form"), [*forms()], ids=lambda value: str(value)[:40].split("\n")[0]
)
def test_the_verdict_on_a_form(tmp_path: Path, row: str, name: str, expected: str, form: str) -> None:
    path = tmp_path / "train.py"
    path.write_text(script(form))
    plan = make_plan([path], Options())
    (program,) = plan.programs
    states = {each.name: each.state for each in program.conditions}
    if expected == "open":
        assert states[row] is State.OPEN
        assert plan.leaves
    else:
        assert states.get(row) is not State.OPEN
        assert not plan.leaves, [*plan.left, *plan.needed, *plan.open]
