"""A row is proven only where it holds on every path of a job: a test that may prevent it is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import Condition, State

INIT = "Horovod is initialized before CUDA"
OPTIMIZER = "every optimizer averages gradients"
WEIGHTS = "ranks start from the same weights"
IMPORTS = "import argparse, os, torch, torch.distributed as dist\n"
PARSED = "import argparse\nparser = argparse.ArgumentParser()\n{}args = parser.parse_args()\n"


def rows(folder: Path, text: str) -> tuple[dict[str, Condition], list[int]]:
    """The table of a migrated train.py, and the lines that HVD111 reports."""
    (folder / "train.py").write_text(text)
    plan = make_plan([folder], Options())
    (program,) = plan.programs
    gates = [found.line for file in plan.files for found in file.findings if found.rule == "HVD111"]
    return {row.name: row for row in program.conditions}, gates


def training(before: str, test: str, inside: str = "") -> str:
    """A script whose start and whose wrap stand under a test. before: lines; inside: the parameters."""
    return f"""\
{IMPORTS}{before}
def main({inside}):
    if {test}:
        dist.init_process_group("gloo")
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    if {test}:
        net = torch.nn.parallel.DistributedDataParallel(net)
    for step in range(3):
        optimizer.zero_grad()
        net(torch.randn(8, 4)).mean().backward()
        optimizer.step()
"""


def option(*words: str) -> str:
    """Lines that parse an option."""
    return PARSED.format(f"parser.add_argument({', '.join(words)})\n")


GPUS = option('"--gpus"', "type=int", 'nargs="+"', "default=[0]")
WORLD = 'world_size = int(os.environ["WORLD_SIZE"])\n'
SWITCHED_OFF = {
    "a list of one GPU": (
        GPUS + "args.distributed = True\nif len(args.gpus) == 1:\n    args.distributed = False\n",
        "args.distributed",
    ),
    "a list that is counted": (GPUS, "len(args.gpus) > 1"),
    "GPUs of this host": ("several = torch.cuda.device_count() > 1\n", "several"),
    "a size that is set back": (
        GPUS + WORLD + "if args.gpus == [0]:\n    world_size = 1\n",
        "world_size > 1",
    ),
    "one of two sizes": (
        'world_size = 1 if os.path.exists("debug") else int(os.environ["WORLD_SIZE"])\n',
        "world_size > 1",
    ),
    "a switch of no flag": (option('"--ddp"', "type=bool", "default=False"), "args.ddp"),
    "a switch that is on": (
        option('"--no-ddp"', 'action="store_true"', "default=True"),
        "not args.no_ddp",
    ),
    "an entry that is set again": (
        'job = {"several": True}\nif torch.cuda.device_count() == 1:\n    job["several"] = False\n',
        'job["several"]',
    ),
    "a variable": ('ddp = os.environ.get("USE_DDP", "0") == "1"\n', "ddp"),
}


@pytest.mark.parametrize("name", SWITCHED_OFF)
def test_a_setting_of_the_scripts_own_may_switch_the_job_off(tmp_path: Path, name: str) -> None:
    before, test = SWITCHED_OFF[name]
    table, gates = rows(tmp_path, training(before, test) + "main()\n")
    lines = [
        number for number, line in enumerate(training(before, test).split("\n"), 1) if f"if {test}:" in line
    ]
    assert table[WEIGHTS].state is State.OPEN
    assert [spot.line for spot in table[WEIGHTS].spots] == lines[1:]
    assert gates == lines[:1]


@pytest.mark.parametrize("call", ["main(False)\n", "main(distributed=False)\n"])
def test_a_flag_that_is_passed_as_false(tmp_path: Path, call: str) -> None:
    table, gates = rows(tmp_path, training("", "distributed", "distributed") + call)
    assert table[WEIGHTS].state is State.OPEN
    assert gates


def test_the_default_of_a_parameter_counts_where_nothing_is_passed(tmp_path: Path) -> None:
    text = training("", "distributed", "distributed=False")
    assert rows(tmp_path, text + "main()\n")[0][WEIGHTS].state is State.OPEN
    assert rows(tmp_path, text + "main(True)\n")[0][WEIGHTS].state is State.PROVEN


EVERY_JOB = {
    "a size of the launcher": (WORLD, "world_size > 1"),
    "a rank of the launcher": ('local_rank = int(os.environ.get("LOCAL_RANK", -1))\n', "local_rank != -1"),
    "a flag that a job sets": (
        'distributed = False\nif "RANK" in os.environ:\n    distributed = True\n',
        "distributed",
    ),
    "a flag that only a single process takes back": (
        'distributed = True\nif int(os.environ["WORLD_SIZE"]) == 1:\n    distributed = False\n',
        "distributed",
    ),
    "a size that is one until the launcher says more": ("world_size = 1\n" + WORLD, "world_size > 1"),
    "an entry of a dictionary": (
        'def found():\n    several = int(os.environ["WORLD_SIZE"]) > 1\n    return dict(several=several)\n'
        "job = found()\n",
        'job["several"]',
    ),
    "a flag that is raised": (option('"--ddp"', 'action="store_true"'), "args.ddp"),
    "a switch that nobody gives": (option('"--no-ddp"', 'action="store_true"'), "not args.no_ddp"),
    "one of two conditions": (
        option('"--ddp"', 'action="store_true"') + WORLD + "args.distributed = world_size > 1 or args.ddp\n",
        "args.distributed",
    ),
}


@pytest.mark.parametrize("name", EVERY_JOB)
def test_what_each_job_passes_stays_proven(tmp_path: Path, name: str) -> None:
    table, gates = rows(tmp_path, training(*EVERY_JOB[name]) + "main()\n")
    assert table[WEIGHTS].state is State.PROVEN
    assert not gates


def test_a_setting_that_a_function_makes_is_followed_to_its_last_definition(tmp_path: Path) -> None:
    start = """
def start(args):
    if "RANK" in os.environ:
        args.rank = int(os.environ["RANK"])
    else:
        args.distributed = False
        return
    args.distributed = True
    dist.init_process_group("gloo")
"""
    parsed = "args = argparse.ArgumentParser().parse_args()\nargs.distributed = False\nstart(args)\n"
    text = training(start + parsed, "args.distributed").replace(
        'dist.init_process_group("gloo")\n    net', "pass\n    net"
    )
    assert rows(tmp_path, text + "main()\n")[0][WEIGHTS].state is State.PROVEN
    late = text.replace(
        "start(args)\n", "start(args)\nif torch.cuda.device_count() == 1:\n    args.distributed = False\n"
    )
    assert rows(tmp_path, late + "main()\n")[0][WEIGHTS].state is State.OPEN


HOROVOD = """\
import horovod.torch as hvd
import torch

def main(args):
    {start}
    net = torch.nn.Linear(4, 1)
    {sent}
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    {wrap}
    for step in range(3):
        net(torch.randn(8, 4)).mean().backward()
        optimizer.step()

main(read())
"""
LINES = {
    "start": "hvd.init()",
    "sent": "hvd.broadcast_parameters(net.state_dict(), root_rank=0)",
    "wrap": "optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=net.named_parameters())",
}


@pytest.mark.parametrize(("line", "row"), [("start", INIT), ("sent", WEIGHTS), ("wrap", OPTIMIZER)])
def test_each_line_of_horovod_stands_on_every_path(tmp_path: Path, line: str, row: str) -> None:
    def state(test: str) -> State:
        lines = {**LINES, line: test.format(LINES[line])}
        return rows(tmp_path, HOROVOD.format(**lines))[0][row].state

    assert state("{}") is State.PROVEN
    assert state("if args.distributed:\n        {}") is State.OPEN
    if line != "start":
        assert state("if hvd.size() > 1:\n        {}") is State.PROVEN
        assert state("if hvd.is_initialized():\n        {}") is State.PROVEN
    assert state("if args.quiet:\n        {0}\n    else:\n        {0}") is State.PROVEN
    assert (
        state("if args.distributed:\n        return\n    {}") is State.PROVEN
    )  # what does not train, either
