"""One rank of a program that torchrun starts: runs it from a fixed seed, and tells what it ended with."""

from __future__ import annotations

import faulthandler
import hashlib
import json
import os
import random
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_pre_hook

from truth.probe import LIMIT, networks, pretend

SEED = 1  # the same on all ranks: what the original does not broadcast begins alike, too
kept: list[nn.Module] = []  # the networks that there were at the first step
steps = [0]


def before_step(*_: object) -> None:
    """Count the steps, and keep the networks of the first one."""
    if not steps[0]:
        kept.extend(networks())
    steps[0] += 1


def state(module: nn.Module) -> str:
    """A digest of a network's parameters and buffers, whatever they are called."""
    found = hashlib.sha256()
    for tensor in module.state_dict().values():
        found.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return found.hexdigest()


def without_cards() -> None:
    """Let DDP take no notice of the cards that it is given: everything stays on the CPU."""
    made: Any = nn.parallel.DistributedDataParallel.__init__

    def make(self: Any, module: nn.Module, *_: Any, device_ids: Any = None, **more: Any) -> None:
        more.pop("output_device", None)
        made(self, module, **more)

    nn.parallel.DistributedDataParallel.__init__ = make  # type: ignore[method-assign]


def watched() -> int:
    """Run the script of `rank OUT CARDS SCRIPT [ARGUMENT...]` and write OUT.RANK; its exit code."""
    out, cards, script = Path(sys.argv[1]).resolve(), int(sys.argv[2]), sys.argv[3]
    sys.argv = sys.argv[3:]
    sys.path[0] = str(Path(script).resolve().parent)
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    random.seed(SEED)
    numpy.random.seed(SEED)
    torch.manual_seed(SEED)
    pretend(cards)
    without_cards()
    register_optimizer_step_pre_hook(before_step)
    code = 0
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    ends = sorted(map(state, kept))
    out.with_name(f"{out.name}.{os.environ['RANK']}").write_text(
        json.dumps({"steps": steps[0], "ends": ends})
    )
    return code
