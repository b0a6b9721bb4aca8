"""Programs of the tests, and what is asked of their runs."""

from __future__ import annotations

import ast
from textwrap import dedent

from hvdkit.conditions.hooks import stepped_past
from hvdkit.conditions.meetings import unmet
from hvdkit.conditions.objection import Objection
from hvdkit.conditions.orders import same_orders
from hvdkit.conditions.samples import unlike_shares
from hvdkit.conditions.weights import unlike_weights
from hvdkit.conditions.writers import several_writers
from hvdkit.job.record import Record
from hvdkit.job.run import run
from hvdkit.job.store import Module

HEAD = """\
import argparse, copy, functools, os, random, time
import horovod.torch as hvd
import numpy as np
import torch
from torch.utils.data import DataLoader, DistributedSampler, Subset, TensorDataset, random_split

hvd.init()
rank = hvd.rank()
"""
DATA = "data = TensorDataset(torch.linspace(0, 1, 64))\n"
TRAINING = """\
sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
loader = DataLoader(data, batch_size=4, sampler=sampler)
model = torch.nn.Linear(1, 1)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
"""
EPOCHS = """\
for epoch in range(5):
    sampler.set_epoch(epoch)
    for x, in loader:
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
"""


def record(text: str, **modules: str) -> Record:
    """The record of a program that begins with HEAD; modules: its other files."""
    trees = {name: Module(name, name, ast.parse(dedent(source))) for name, source in modules.items()}
    entry = Module("train", "train", ast.parse(HEAD + dedent(text)))
    return run(entry, lambda name, importer: trees.get(name))


def lines(found: list[Objection]) -> list[int]:
    """The lines of objections, below HEAD, each once."""
    numbers = (getattr(each.at[1], "lineno", 1) for each in found)
    return sorted({number - HEAD.count("\n") for number in numbers})


def writers(text: str, **modules: str) -> list[int]:
    """Where several ranks write a file."""
    return lines([*several_writers(record(text, **modules))])


def shares(text: str) -> list[int]:
    """Where what is divided is not the same on all ranks."""
    return lines([*unlike_shares(record(text))])


def weights(text: str) -> list[int]:
    """Where ranks get different weights."""
    return lines([*unlike_weights(record(text))])


def orders(text: str) -> list[int]:
    """Where a pass has the order of an earlier one."""
    return lines([*same_orders(record(text))])


def meetings(text: str) -> list[int]:
    """Where not all ranks come to a collective."""
    return lines([*unmet(record(text))])


def steps(text: str) -> list[int]:
    """Where an optimizer steps beside the one that averages."""
    return lines([*stepped_past(record(text))])
