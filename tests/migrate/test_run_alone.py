"""Programs that are run alone and share code with a training: whoever calls Horovod starts it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hvdkit.migrate.command import main as migrate
from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import Plan, State
from tests.files import write_files
from tests.warm import forked

STARTS = "every program that calls Horovod starts it"
INIT = "Horovod is initialized before CUDA"
NET = """\
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Model:
    def __init__(self, distributed=False):
        self.net = torch.nn.Linear(4, 1)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        if distributed:
            self.net = DDP(self.net)

    def update(self, x):
        self.optimizer.zero_grad()
        self.net(x).mean().backward()
        self.optimizer.step()
"""
TRAIN = """\
import torch
import torch.distributed as dist
{imports}

if __name__ == "__main__":
    {first}
    dist.init_process_group("gloo")
    model = Model(distributed=True)
    for step in range(3):
        model.update(torch.randn(8, 4))
"""
OPTIONS = """\
import argparse, os

def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=0)
    args = parser.parse_args()
    {more}
    return args
"""
USED = "from net import Model\nfrom options import options"
# What train.py and alone.py share -> their files, and the code of alone.py.
SHARED = {
    "a model whose optimizer is wrapped": (
        (("train.py", TRAIN.format(imports="from net import Model", first="pass")),),
        "import torch\nfrom net import Model\n\nprint(Model().net(torch.ones(1, 4)))\n",
    ),
    "options that a launcher filled in": (
        (
            ("train.py", TRAIN.format(imports=USED, first="print(options().local_rank)")),
            ("options.py", OPTIONS.format(more="pass")),
        ),
        "import torch\nfrom options import options\n\nargs = options()\nprint(torch.ones(1), args)\n",
    ),
    "a size that is read": (
        (
            ("train.py", TRAIN.format(imports=USED, first="args = options()")),
            ("options.py", OPTIONS.format(more='args.size = int(os.environ.get("WORLD_SIZE", 1))')),
        ),
        "import torch\nfrom options import options\n\ndef main():\n    print(torch.ones(1), options())\n\n"
        'if __name__ == "__main__":\n    main()\n',
    ),
    "a test for a launcher": (
        (
            ("train.py", TRAIN.format(imports=USED, first="args = options()")),
            ("options.py", OPTIONS.format(more='args.distributed = "RANK" in os.environ')),
        ),
        "import torch\nfrom options import options\n\nprint(torch.ones(1), options())\n",
    ),
}


def plan_of(folder: Path, files: tuple[tuple[str, str], ...], alone: str, options: Options) -> Plan:
    """The plan of a project whose alone.py shares code with train.py."""
    write_files(folder, (("net.py", NET), *files, ("alone.py", alone)))
    return make_plan([folder], options)


def row(plan: Plan, name: str, program: str = "alone.py") -> tuple[State, str]:
    """A row of a program's table."""
    conditions = next(one.conditions for one in plan.programs if one.entry.name == program)
    return next(((each.state, each.detail) for each in conditions if each.name == name), (State.NONE, ""))


@pytest.mark.parametrize("shared", SHARED)
def test_it_starts_horovod_where_it_calls_it(tmp_path: Path, shared: str) -> None:
    plan = plan_of(tmp_path, *SHARED[shared], Options())
    texts = {file.path.name: file.after for file in plan.files if not file.problem}
    assert "hvd.init()\n" in texts["alone.py"]
    assert "hvd.init()\n" in texts["train.py"]
    assert row(plan, STARTS)[0] is State.PROVEN
    assert row(plan, STARTS, "train.py")[0] is State.PROVEN


@pytest.mark.launch
@pytest.mark.parametrize("shared", SHARED)
def test_it_works_alone_as_before(tmp_path: Path, shared: str) -> None:
    files, alone = SHARED[shared]
    write_files(tmp_path, (("net.py", NET), *files, ("alone.py", alone)))
    migrate(["migrate", str(tmp_path), "--write", "--allow-no-vcs", "--no-diff"])
    run = [sys.executable, str(tmp_path / "alone.py")]
    done = subprocess.run(forked(run, os.environ), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "tensor(" in done.stdout


HELPERS = """\
import torch.distributed as dist

def rank():
    if not dist.is_available() or not dist.is_initialized():
        return 0
    return dist.get_rank()

def mean(x):
    return x if rank() == 0 and not dist.is_initialized() else x / dist.get_world_size()

def log(text):
    if dist.is_initialized() and dist.get_rank() > 0:
        return
    print(text)
"""


def test_what_asks_first_whether_a_job_runs_needs_no_start(tmp_path: Path) -> None:
    train = TRAIN.format(imports="from net import Model\nimport helpers", first="helpers.log('begin')")
    alone = "import torch\nfrom helpers import log, rank\n\nlog(f'{rank()} {torch.ones(1)}')\n"
    plan = plan_of(tmp_path, (("train.py", train), ("helpers.py", HELPERS)), alone, Options())
    texts = {file.path.name: file.after for file in plan.files}
    assert texts["alone.py"] == alone
    assert row(plan, STARTS)[0] is State.NONE
    assert row(plan, INIT)[0] is State.NONE


BY_HAND = """\
import horovod.torch as hvd
import torch

def wrapped(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    {test}optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    return optimizer
"""


@pytest.mark.parametrize(
    ("test", "state"),
    [("", State.OPEN), ("if hvd.is_initialized(): ", State.NONE), ("if hvd.nccl_built(): ", State.OPEN)],
)
def test_a_program_that_does_not_start_what_it_calls_is_open(tmp_path: Path, test: str, state: State) -> None:
    train = (
        "import horovod.torch as hvd\nimport torch\nfrom tools import wrapped\n\nhvd.init()\n"
        "model = torch.nn.Linear(2, 1)\noptimizer = wrapped(model)\n"
        "model(x).sum().backward()\noptimizer.step()\n"
    )
    alone = "import torch\nfrom tools import wrapped\n\nprint(wrapped(torch.nn.Linear(2, 1)))\n"
    files = (("train.py", train), ("tools.py", BY_HAND.format(test=test)))
    plan = plan_of(tmp_path, files, alone, Options(select=("none",)))
    assert row(plan, STARTS)[0] is state
    if state is State.OPEN:
        assert row(plan, STARTS)[1].startswith(
            "alone.py reaches Horovod at tools.py:6 and never calls hvd.init()"
        )
        assert any(condition.name == STARTS for condition in plan.open)
    assert row(plan, STARTS, "train.py")[0] is not State.OPEN
