"""The post-conditions: each row proven where it holds, open where it does not, else not needed, and why."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import Condition, State
from hvdkit.migrate.report.verdicts import verdicts

INIT = "Horovod is initialized before CUDA"
STARTS = "every program that calls Horovod starts it"
DEVICE = "each process has its own device"
SHARDED = "training data is sharded by rank"
EPOCHS = "each epoch has a different order"
OPTIMIZER = "every optimizer averages gradients"
WEIGHTS = "ranks start from the same weights"
FILES = "files are written by rank 0 only"
REDUCTIONS = "reductions name their operation"
LEFTOVERS = "no DDP or process group is left"
MEET = "collectives meet"

# A Horovod script on which every row holds; the tests below break one thing each.
GOOD = """\
import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader, DistributedSampler, RandomSampler

def main():
    hvd.init()
    torch.cuda.set_device(hvd.local_rank())
    sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
    loader = DataLoader(data, sampler=sampler)
    model = torch.nn.Linear(2, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x in loader:
            loss = model(x).sum()
            loss.backward()
            optimizer.step()
        hvd.allreduce_(loss, op=hvd.Sum)
    if hvd.rank() == 0:
        torch.save(model.state_dict(), "model.pt")

main()
"""


def table(folder: Path, text: str, **files: str) -> dict[str, Condition]:
    """The rows for train.py, by name, with no rule applied."""
    for name, content in files.items():
        (folder / f"{name}.py").write_text(dedent(content))
    (folder / "train.py").write_text(dedent(text))
    plan = make_plan([folder], Options(select=("none",)))
    program = next(program for program in plan.programs if program.entry.name == "train.py")
    return {row.name: row for row in program.conditions}


def test_all_rows_hold(tmp_path: Path) -> None:
    rows = table(tmp_path, GOOD)
    assert {name: row.state for name, row in rows.items()} == dict.fromkeys(
        (INIT, STARTS, DEVICE, SHARDED, EPOCHS, OPTIMIZER, WEIGHTS, FILES, REDUCTIONS, LEFTOVERS, MEET),
        State.PROVEN,
    )
    assert rows[INIT].detail == "hvd.init() at train.py:6"
    assert rows[SHARDED].detail == "by DistributedSampler: loader at train.py:9"


def test_a_reduction_without_op_is_the_average_that_horovod_documents(tmp_path: Path) -> None:
    """As in Horovod's own examples: nothing is wrong, and a reader is told which it is."""
    rows = table(tmp_path, GOOD.replace("hvd.allreduce_(loss, op=hvd.Sum)", "hvd.allreduce_(loss)"))
    assert rows[REDUCTIONS].state is State.PROVEN
    assert rows[REDUCTIONS].detail == "Horovod's average, where no op is given: train.py:20"


BREAKS = [
    ("    hvd.init()\n", "", INIT, "no hvd.init()"),
    ("    hvd.init()\n", "    torch.zeros(2).cuda()\n    hvd.init()\n", INIT, "used above it at train.py:6"),
    ("set_device(hvd.local_rank())", "set_device(hvd.rank())", DEVICE, "uses the global rank at train.py:7"),
    (
        "set_device(hvd.local_rank())",
        "set_device(hvd.rank() if torch.rand(1) > 0 else hvd.local_rank())",
        DEVICE,
        "may use the global rank at train.py:7",
    ),
    ("    torch.cuda.set_device(hvd.local_rank())\n", "", DEVICE, "no torch.cuda.set_device"),
    ("1).cuda()", "1).cuda(0)", DEVICE, "may use, the same device: train.py:10"),
    (
        "1).cuda()",
        "1).to(torch.device('cuda', index=0))",
        DEVICE,
        "may use, the same device: train.py:10",
    ),
    ("1).cuda()", "1).to('cuda:1')", DEVICE, "may use, the same device: train.py:10"),
    (
        "1).cuda()",
        "1).to(torch.device(config['device']))",
        DEVICE,
        "may use, the same device: train.py:10",
    ),
    ("rank=hvd.rank())", "rank=hvd.rank()) if asked else None", SHARDED, "draws all of it: train.py:8"),
    (
        "rank=hvd.rank())",
        "rank=hvd.rank()) if asked else RandomSampler(data)",
        SHARDED,
        "draws all of it: train.py:8",
    ),
    (
        "    sampler = ",
        "    import random\n    order = random.sample(data, 9)\n    sampler = ",
        SHARDED,
        "separately",
    ),
    ("DataLoader(data, sampler=sampler)", "DataLoader(data, shuffle=True)", SHARDED, "loader at train.py:9"),
    ("        sampler.set_epoch(epoch)\n", "", EPOCHS, "no set_epoch was found for the loader at train.py:9"),
    ("        sampler.set_epoch(epoch)\n", "        other.set_epoch(epoch)\n", EPOCHS, "no set_epoch"),
    (
        "    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())\n",
        "",
        OPTIMIZER,
        "not in a DistributedOptimizer: train.py:11",
    ),
    ("    hvd.broadcast_parameters(model.state_dict(), root_rank=0)\n", "", WEIGHTS, "no broadcast"),
    (
        "    model = ",
        "    teacher = torch.nn.Linear(2, 1)\n    model = ",
        WEIGHTS,
        "the module created at train.py:10",
    ),
    (
        "    for epoch in range(3):\n",
        "    if hvd.rank() == 0:\n        model.load_state_dict(saved)\n    for epoch in range(3):\n",
        WEIGHTS,
        "only rank 0 loads a state at train.py:15, after the broadcast",
    ),
    (
        "    if hvd.rank() == 0:\n        torch",
        "    if hvd.size() > 1:\n        torch",
        FILES,
        "every rank writes",
    ),
    (
        "    if hvd.rank() == 0:\n        torch",
        "    if hvd.local_rank() == 0:\n        torch",
        FILES,
        "of each host",
    ),
    ("hvd.allreduce_(loss, op=hvd.Sum)", "hvd.allreduce(loss, op=hvd.Sum)", REDUCTIONS, "discarded"),
    (
        "        for x in loader:\n",
        "        torch.nn.parallel.replicate(model, [0, 1])\n        for x in loader:\n",
        LEFTOVERS,
        "the model runs on all GPUs of the host",
    ),
    (
        "    sampler = ",
        "    import numpy\n    kept = numpy.random.rand(len(data)) < 0.8\n    sampler = ",
        SHARDED,
        "draws this separately",
    ),
    ("Linear(2, 1).cuda()", "DataParallel(torch.nn.Linear(2, 1))", LEFTOVERS, "DataParallel at train.py:10"),
]


@pytest.mark.parametrize(("old", "new", "name", "detail"), BREAKS)
def test_one_row_breaks(tmp_path: Path, old: str, new: str, name: str, detail: str) -> None:
    assert GOOD.count(old) == 1
    row = table(tmp_path, GOOD.replace(old, new))[name]
    assert row.state is State.OPEN
    assert detail in row.detail


NOT_NEEDED = [
    (
        "DistributedSampler(data, ",
        "DistributedSampler(data, shuffle=False, ",
        EPOCHS,
        "no sampler needs the epoch",
    ),
    ('    if hvd.rank() == 0:\n        torch.save(model.state_dict(), "model.pt")\n', "", FILES, "no call"),
    ("        hvd.allreduce_(loss, op=hvd.Sum)\n", "", REDUCTIONS, "there is no hand-written reduction"),
]


@pytest.mark.parametrize(("old", "new", "name", "detail"), NOT_NEEDED)
def test_a_row_is_not_needed(tmp_path: Path, old: str, new: str, name: str, detail: str) -> None:
    assert GOOD.count(old) == 1
    row = table(tmp_path, GOOD.replace(old, new))[name]
    assert row.state is State.NONE
    assert detail in row.detail


def test_a_program_that_trains_nothing(tmp_path: Path) -> None:
    rows = table(
        tmp_path,
        """\
        import torch
        from nets import Net

        model = torch.nn.DataParallel(Net())
        torch.save(model(x), "result.pt")
        """,
        nets="""\
        import torch

        class Net(torch.nn.Module):
            pass

        if __name__ == "__main__":
            torch.distributed.init_process_group("nccl")
            Net()(x).sum().backward()
            optimizer.step()
        """,
    )
    assert rows[FILES].detail == "nothing is trained: it stays a single-process program"
    assert {row.state for row in rows.values()} == {State.NONE}


def test_what_only_a_program_of_one_process_writes(tmp_path: Path) -> None:
    """It shares a print with a training, and so starts Horovod; nobody starts it on several ranks."""
    (tmp_path / "tools.py").write_text("def say(text):\n    print(text)\n")
    train = """\
        import torch
        from tools import say

        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in torch.utils.data.DataLoader(data, shuffle=True):
            model(x).sum().backward()
            optimizer.step()
            say("step")
        """
    speak = """\
        import torch
        from tools import say

        def write(path):
            with open(path, "w") as file:
                file.write(str(torch.load("model.pt")))
                say(path)

        write("weights.txt")
        """
    (tmp_path / "train.py").write_text(dedent(train))
    (tmp_path / "speak.py").write_text(dedent(speak))
    plan = make_plan([tmp_path], Options())
    rows = {program.entry.name: {row.name: row for row in program.conditions} for program in plan.programs}
    assert rows["speak.py"][STARTS].state is State.PROVEN
    assert rows["speak.py"][FILES].state is State.NONE
    assert "its one process writes" in rows["speak.py"][FILES].detail


def test_what_is_left_in_a_shared_file_is_left_to_those_that_train(tmp_path: Path) -> None:
    tools = """\
        def keep(model):
            print("keep")
            file = open("weights.bin", "wb")
            model.write(file)
        """
    train = """\
        import torch
        from tools import keep

        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in torch.utils.data.DataLoader(data, shuffle=True):
            model(x).sum().backward()
            optimizer.step()
        keep(model)
        """
    other = """\
        import torch
        from tools import keep

        keep(torch.load("model.pt"))
        """
    for name, text in {"tools": tools, "train": train, "other": other}.items():
        (tmp_path / f"{name}.py").write_text(dedent(text))
    said = [line for line, _ in verdicts(make_plan([tmp_path], Options()))]
    assert [line.partition(": ")[2] for line in said if "other.py" in line] == ["ready"]
    assert any("left" in line for line in said if "train.py" in line)


def test_an_evaluation_in_a_job_needs_no_training_rows(tmp_path: Path) -> None:
    rows = table(
        tmp_path,
        """\
        import horovod.torch as hvd
        import torch

        hvd.init()
        model = torch.load("model.pt")
        print(hvd.allreduce(model(x), op=hvd.Average))
        """,
    )
    assert rows[INIT].state is State.PROVEN
    assert rows[SHARDED] == Condition(SHARDED, State.NONE, "nothing is trained here")
    assert rows[OPTIMIZER].state is State.NONE


def test_batches_drawn_at_random_by_a_seed_of_the_rank(tmp_path: Path) -> None:
    text = """\
        import horovod.torch as hvd
        import torch

        hvd.init()
        offset = hvd.rank()
        torch.manual_seed(1337 + offset)
        while True:
            model(torch.randn(8, 2)).sum().backward()
        """
    row = table(tmp_path, text)[SHARDED]
    assert row.state is State.PROVEN
    assert "seeded by the rank at train.py:6" in row.detail
    row = table(tmp_path, text.replace("1337 + offset", "1337"))[SHARDED]
    assert row.state is State.OPEN
    assert "the same on all ranks" in row.detail


def test_a_whole_graph_in_each_step_is_told_with_its_places(tmp_path: Path) -> None:
    text = """\
        import torch
        from torch_geometric.datasets import Planetoid

        data = Planetoid("data", "Cora")[0]
        model = Net()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

        def train():
            model(data.x, data.edge_index)[data.train_mask].sum().backward()
            optimizer.step()

        for epoch in range(200):
            train()
        """
    (tmp_path / "train.py").write_text(dedent(text))
    plan = make_plan([tmp_path], Options(suggested=True))
    row = next(row for row in plan.programs[0].conditions if row.name == SHARDED)
    after = plan.files[0].after.split("\n")
    assert row.state is State.NONE
    for line in ("for epoch in range(200):", 'data = Planetoid("data", "Cora")[0]'):
        assert f"train.py:{after.index(line) + 1}" in row.detail
    assert not plan.left
    assert "lr=0.01)" in plan.files[0].after  # a step has no more samples than before


def test_horovod_is_initialised_by_those_who_call_what_uses_cuda(tmp_path: Path) -> None:
    start = """\
        import horovod.torch as hvd
        import torch

        def start(again):
            torch.cuda.set_device(hvd.local_rank())
            if again:
                hvd.init()
        """
    text = GOOD.replace("    torch.cuda.set_device(hvd.local_rank())\n", "    start.start(True)\n")
    rows = table(tmp_path, "import start\n" + text, start=start)
    assert rows[INIT].state is rows[DEVICE].state is State.PROVEN
    rows = table(tmp_path, "import start\n" + text.replace("    hvd.init()\n", ""), start=start)
    assert rows[INIT].detail == "CUDA is used above it at start.py:5"


@pytest.mark.parametrize(
    ("choice", "state"),
    [
        ("torch.accelerator.set_device_index(hvd.local_rank())", State.PROVEN),
        ("device = torch.device('cuda', hvd.local_rank())", State.PROVEN),
        ("device = torch.device(f'cuda:{hvd.local_rank()}')", State.PROVEN),
        ("torch.accelerator.set_device_index(hvd.rank())", State.OPEN),
        ("device = torch.device('cuda', hvd.rank())", State.OPEN),
        ("local = hvd.rank() - 4 * (hvd.rank() // 4)\n    torch.cuda.set_device(local)", State.PROVEN),
        ("local = hvd.rank() - 4 * (hvd.rank() // 8)\n    torch.cuda.set_device(local)", State.OPEN),
    ],
)
def test_other_ways_to_choose_a_device(choice: str, state: State, tmp_path: Path) -> None:
    text = GOOD.replace("torch.cuda.set_device(hvd.local_rank())", choice)
    text = text.replace(".cuda()", ".to(device)") if choice.startswith("device") else text
    assert table(tmp_path, text)[DEVICE].state is state


@pytest.mark.parametrize(
    ("call", "state"),
    [
        ("torch.distributed.get_default_backend_for_device('cuda')", State.PROVEN),
        ("torch.distributed.is_nccl_available()", State.PROVEN),
        ("torch.distributed.get_rank()", State.OPEN),
    ],
)
def test_what_asks_no_process_group_is_none_that_is_left(call: str, state: State, tmp_path: Path) -> None:
    rows = table(tmp_path, GOOD.replace("    hvd.init()\n", f"    hvd.init()\n    answer = {call}\n"))
    assert rows[LEFTOVERS].state is state


def test_a_device_that_another_script_takes_is_not_this_ones(tmp_path: Path) -> None:
    data = """\
        import horovod.torch as hvd
        import torch

        if __name__ == "__main__":
            hvd.init()
            torch.cuda.set_device(hvd.local_rank())
        """
    text = GOOD.replace("    torch.cuda.set_device(hvd.local_rank())\n", "").replace("main()\n", "\nmain()\n")
    assert table(tmp_path, "import data\n" + text, data=data)[DEVICE].state is State.OPEN


def test_another_script_of_the_project_is_not_judged_with_this_one(tmp_path: Path) -> None:
    engine = """\
        def one_epoch(loader):
            for x in loader:
                model(x).sum().backward()
        """
    other = """\
        from engine import one_epoch
        from torch.utils.data import DataLoader

        if __name__ == "__main__":
            one_epoch(DataLoader(data))
        """
    text = """\
        import horovod.torch as hvd
        from engine import one_epoch
        from torch.utils.data import DataLoader, DistributedSampler

        hvd.init()
        if __name__ == "__main__":
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            one_epoch(DataLoader(data, sampler=sampler))
        """
    assert table(tmp_path, text, engine=engine, other=other)[SHARDED].state is State.PROVEN


SAMPLERS = [
    "DataLoader(data, batch_sampler=BatchSampler(DistributedSampler(data), 8, True))",
    "DataLoader(data, sampler=Own(data, hvd.rank()))",
    "DataLoader(data, batch_sampler=Grouped(DistributedSampler(data)))",
    "DataLoader(data, sampler=Balanced(data))",
    "DataLoader(Stream())",
    "DataLoader(data, **{'sampler': DistributedSampler(data)})",
    "DataLoader(Subset(data, range(hvd.rank(), 8, hvd.size())))",
    "DataLoader(Subset(data, order[hvd.rank() :: hvd.size()]))",
    "DataLoader(Subset(data, part))",
]


@pytest.mark.parametrize("loader", SAMPLERS)
def test_ways_to_divide_the_data(tmp_path: Path, loader: str) -> None:
    text = f"""\
        import horovod.torch as hvd
        from torch.utils.data import BatchSampler, DataLoader, DistributedSampler, IterableDataset, Sampler
        from torch.utils.data import Subset

        class Own(Sampler):
            def __init__(self, data, rank):
                self.rank = rank

        class Balanced(DistributedSampler):
            pass

        class Grouped(Sampler):
            def __init__(self, sampler):
                self.sampler = sampler

        class Stream(IterableDataset):
            def __iter__(self):
                return iter(read(hvd.rank()))

        hvd.init()
        part = order.split()[hvd.rank()]
        for x in {loader}:
            model(x).sum().backward()
        """
    assert table(tmp_path, text)[SHARDED].state is State.PROVEN
    for whole in (
        "DataLoader(data, sampler=Grouped(data))",
        "DataLoader(data)",
        "DataLoader(Subset(data, range(8)))",
    ):
        assert table(tmp_path, text.replace(loader, whole))[SHARDED].state is State.OPEN


def test_a_model_whose_parts_are_all_broadcast(tmp_path: Path) -> None:
    text = """\
        import horovod.torch as hvd
        import torch

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.body = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
                self.head = torch.nn.Linear(2, 1)

        hvd.init()
        net = Net()
        hvd.broadcast_parameters(net.body.state_dict(), root_rank=0)
        hvd.broadcast_parameters(net.head.state_dict(), root_rank=0)
        net(x).sum().backward()
        """
    assert table(tmp_path, text)[WEIGHTS].state is State.PROVEN
    whole = text.replace("hvd.broadcast_parameters(net.head.state_dict(), root_rank=0)", "")
    assert table(tmp_path, whole)[WEIGHTS].state is State.OPEN


JOINS = {
    "hvd.size() > 1": State.PROVEN,
    "torch.cuda.is_available() and hvd.size() > 1": State.OPEN,
    "config.several": State.OPEN,
}


@pytest.mark.parametrize(("several", "state"), JOINS.items())
def test_a_rank_that_may_stay_that_of_a_lone_process(tmp_path: Path, several: str, state: State) -> None:
    text = f"""\
        import horovod.torch as hvd
        import torch
        from settings import config

        hvd.init()
        distributed = {several}
        rank, size = 0, 1
        if distributed:
            rank, size = hvd.rank(), hvd.size()
        model = torch.nn.Linear(2, 1)
        if distributed:
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
        model(x).sum().backward()
        hvd.broadcast_parameters(dict(model.named_buffers()), root_rank=0)
        if rank == 0:
            torch.save(model.state_dict(), "model.pt")
        """
    rows = table(tmp_path, text)
    assert rows[FILES].state is state
    assert rows[WEIGHTS].state is state


GUARDS = {
    "if args.rank == 0:": State.PROVEN,
    "if 0 == args.rank:": State.PROVEN,
    "if args.rank in (-1, 0):": State.PROVEN,
    "if not args.rank:": State.PROVEN,
    "if args.rank < 1:": State.PROVEN,
    "if is_main():": State.PROVEN,
    "if args.save and is_main():": State.PROVEN,
    "if not args.distributed or args.rank == 0:": State.PROVEN,
    "if not flag or (flag and args.rank == 0):": State.OPEN,  # without the flag each rank writes
    "if args.main:": State.PROVEN,
    "if args.local_rank == 0:": State.OPEN,
    "if args.rank % hvd.local_size() == 0:": State.OPEN,
    "if args.rank != 0:": State.OPEN,
    "if args.rank == 0 or args.always:": State.OPEN,
    "if not args.quiet or args.rank == 0:": State.OPEN,
    "if args.save:": State.OPEN,
    "if args.size == 0:": State.PROVEN,  # it never is: no process writes
}


@pytest.mark.parametrize(("guard", "state"), GUARDS.items())
def test_guards_of_writers(tmp_path: Path, guard: str, state: State) -> None:
    text = f"""\
        import argparse
        import horovod.torch as hvd
        import torch

        def start(args):
            hvd.init()
            args.rank = hvd.rank()
            args.local_rank = hvd.local_rank()
            args.size = hvd.size()
            args.distributed = args.size > 1
            args.main = args.rank == 0

        def is_main():
            if not hvd.is_initialized():
                return True
            return hvd.rank() == 0

        def main():
            args = argparse.ArgumentParser().parse_args()
            start(args)
            loss.backward()
            {guard}
                torch.save(state, "model.pt")

        main()
        """
    assert table(tmp_path, text)[FILES].state is state


def test_set_epoch_of_another_program(tmp_path: Path) -> None:
    """Two scripts that have their sampler made by one function: each tells its own one the epoch."""
    made = """\
        import horovod.torch as hvd
        from torch.utils.data import DataLoader, DistributedSampler

        def load(data):
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            return DataLoader(data, sampler=sampler), sampler
        """
    lines = GOOD.splitlines(keepends=True)
    script = "".join(line for line in lines if "sampler = Distributed" not in line)
    script = script.replace("loader = DataLoader(data, sampler=sampler)", "loader, sampler = load(data)")
    script = script.replace("import torch\n", "import torch\nfrom made import load\n", 1)
    silent = script.replace("        sampler.set_epoch(epoch)\n", "")
    assert table(tmp_path, script, made=made)[EPOCHS].state is State.PROVEN
    assert table(tmp_path, silent, made=made, pretrain=script)[EPOCHS].state is State.OPEN


TIMM = """\
import argparse
import os
import horovod.torch as hvd
import torch
from timm.data import create_loader
from timm.utils import init_distributed_device

def main(args):
    hvd.init()
    os.environ.update(RANK=str(hvd.rank()), LOCAL_RANK=str(hvd.local_rank()), WORLD_SIZE=str(hvd.size()))
    device = init_distributed_device(args)
    loader = create_loader(data, 224, 32, is_training=True, distributed=args.distributed)
    model = torch.nn.Linear(2, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    for epoch in range(3):
        loader.sampler.set_epoch(epoch)
        for x in loader:
            model(x).sum().backward()
            optimizer.step()
    if args.rank == 0:
        torch.save(model.state_dict(), "model.pt")

main(argparse.Namespace())
"""


def test_what_a_library_does_by_torch_distributed_holds(tmp_path: Path) -> None:
    rows = table(tmp_path, TIMM)
    assert {row.state for row in rows.values()} == {State.PROVEN, State.NONE}
    assert [name for name, row in rows.items() if row.state is State.NONE] == [REDUCTIONS]
    assert rows[SHARDED].detail == "by timm's loader: loader at train.py:12"
    assert rows[DEVICE].detail.endswith("chooses it by LOCAL_RANK at train.py:11")
    assert rows[LEFTOVERS].detail.startswith("only the process group of Horovod's ranks")


def test_a_loader_of_a_library_that_is_not_told_the_epoch(tmp_path: Path) -> None:
    rows = table(tmp_path, TIMM.replace("loader.sampler.set_epoch(epoch)", "pass"))
    assert rows[EPOCHS].state is State.OPEN
    rows = table(tmp_path, TIMM.replace("loader.sampler.set_epoch(epoch)", "pass").replace("True", "False"))
    assert rows[EPOCHS].state is State.NONE


@pytest.mark.parametrize("first", [True, False])
def test_one_of_two_samplers_that_shuffles_asks_for_the_epoch(tmp_path: Path, first: bool) -> None:
    """In whatever order the two are looked at."""
    ordered = "OrderedDistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())"
    shuffling = "DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())"
    chosen = (shuffling, ordered) if first else (ordered, shuffling)
    text = GOOD.replace(shuffling, f"{chosen[0]} if args.train else {chosen[1]}")
    text = "from timm.data.distributed_sampler import OrderedDistributedSampler\n" + text
    assert table(tmp_path, text)[EPOCHS].state is State.PROVEN
    assert table(tmp_path, text.replace("sampler.set_epoch(epoch)", "pass"))[EPOCHS].state is State.OPEN


def test_a_loader_of_the_branch_without_a_job_may_have_all_of_the_data(tmp_path: Path) -> None:
    text = GOOD.replace(
        "    sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())\n"
        "    loader = DataLoader(data, sampler=sampler)\n",
        "    if hvd.is_initialized():\n"
        "        sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())\n"
        "        loader = DataLoader(data, sampler=sampler)\n"
        "    else:\n"
        "        loader = DataLoader(data, shuffle=True)\n",
    )
    assert table(tmp_path, text)[SHARDED].state is State.PROVEN


@pytest.mark.parametrize(("phase", "state"), [("train", State.PROVEN), ("val", State.OPEN)])
def test_a_sampler_for_the_phase_that_trains(tmp_path: Path, phase: str, state: State) -> None:
    text = GOOD.replace(
        "def main():\n",
        "def make(data, phase):\n"
        "    sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())\n"
        f'    return DataLoader(data, sampler=sampler if phase == "{phase}" else None)\n'
        "\n"
        "def main():\n",
    ).replace(
        "    loader = DataLoader(data, sampler=sampler)\n",
        '    loader, val_loader = make(data, "train"), make(other, "val")\n',
    )
    assert table(tmp_path, text)[SHARDED].state is state


def test_the_optimizer_that_an_imported_file_makes_where_it_is_run_itself(tmp_path: Path) -> None:
    """A schedule's demo trains nothing, and no other program comes to it."""
    schedules = """\
        import torch

        def constant(optimizer):
            return optimizer

        if __name__ == "__main__":
            constant(torch.optim.SGD(torch.nn.Linear(2, 1).parameters(), lr=0.1))
        """
    text = GOOD.replace("import torch\n", "import torch\nimport schedules\n", 1)
    row = table(tmp_path, text, schedules=schedules)[OPTIMIZER]
    assert row.state is State.PROVEN and "schedules" not in row.detail


@pytest.mark.parametrize(
    ("size", "rank"), [("hvd.size()", "hvd.local_rank()"), ("hvd.local_size()", "hvd.local_rank()")]
)
def test_a_rank_within_a_host_divides_nothing_between_hosts(tmp_path: Path, size: str, rank: str) -> None:
    text = GOOD.replace("num_replicas=hvd.size(), rank=hvd.rank()", f"num_replicas={size}, rank={rank}")
    row = table(tmp_path, text)[SHARDED]
    assert row.state is State.OPEN
    assert "on several hosts" in row.detail


def test_a_download_by_every_rank_is_open(tmp_path: Path) -> None:
    fetched = GOOD.replace("import torch\n", "import torch\nfrom urllib.request import urlretrieve\n", 1)
    fetched = fetched.replace("    model = torch", "    urlretrieve(URL, 'model.pt')\n    model = torch", 1)
    row = table(tmp_path, fetched)[FILES]
    assert row.state is State.OPEN
    assert "every rank downloads to the same file at train.py:" in row.detail
    waits = "    if hvd.local_rank() {} 0:\n        hvd.barrier()\n"
    call = "    urlretrieve(URL, 'model.pt')\n"
    waited = fetched.replace(call, waits.format("!=") + call + waits.format("=="))
    assert table(tmp_path, waited)[FILES].state is State.PROVEN


def test_a_download_in_what_a_module_is_asked_for_by_name_is_open(tmp_path: Path) -> None:
    nets = "from urllib.request import urlretrieve\n\ndef small():\n    urlretrieve(URL, 'small.pt')\n"
    asked = GOOD.replace("import torch\n", "import torch\nimport nets\n", 1)
    for asks in ("getattr(nets, NAME)()", "nets.__dict__[NAME]()", "vars(nets)[NAME]()"):
        text = asked.replace("    model = torch", f"    {asks}\n    model = torch", 1)
        row = table(tmp_path, text, nets=nets)[FILES]
        assert "every rank downloads to the same file at nets.py:4" in row.detail, asks
    other = asked.replace("    model = torch", "    getattr(nets, 'large')()\n    model = torch", 1)
    assert table(tmp_path, other, nets=nets)[FILES].state is State.PROVEN


def test_another_programs_call_of_what_rank_0_runs_changes_nothing(tmp_path: Path) -> None:
    report = (
        "import torch\n\ndef report(net):\n    torch.save(net, 'report.pt')\n\n"
        "if __name__ == '__main__':\n    report(torch.nn.Linear(2, 1))\n"
    )
    text = GOOD.replace("import torch\n", "import torch\nfrom report import report\n", 1)
    guarded = text.replace("        torch.save(", "        report(model)\n        torch.save(")
    assert table(tmp_path, guarded, report=report)[FILES].state is State.PROVEN
    every = text.replace("    if hvd.rank() == 0:", "    report(model)\n    if hvd.rank() == 0:")
    assert "every rank writes at report.py:4" in table(tmp_path, every, report=report)[FILES].detail


def test_a_sampler_whose_loader_is_not_followed_has_to_be_told_the_epoch(tmp_path: Path) -> None:
    hidden = GOOD.replace("loader = DataLoader(data, sampler=sampler)", "loader = hide(data, sampler)")
    assert table(tmp_path, hidden)[EPOCHS].state is State.PROVEN
    untold = hidden.replace("        sampler.set_epoch(epoch)\n", "")
    row = table(tmp_path, untold)[EPOCHS]
    assert row.state is State.OPEN
    assert "no set_epoch was found for the sampler at train.py:8" in row.detail


def test_a_flag_that_is_set_where_there_are_several_processes_guards_what_is_written(tmp_path: Path) -> None:
    flag = (
        "    if hvd.size() > 1:\n        options.several = True\n    else:\n        options.several = False\n"
    )
    text = GOOD.replace("    sampler =", flag + "    sampler =", 1)
    text = text.replace("    if hvd.rank() == 0:", "    if not options.several or hvd.rank() == 0:")
    assert (
        table(
            tmp_path,
            text.replace("def main", "from settings import options\n\ndef main"),
            settings="options = read()\n",
        )[FILES].state
        is State.PROVEN
    )
    other = text.replace("hvd.size() > 1:", "LARGE:")
    assert (
        table(
            tmp_path,
            other.replace("def main", "from settings import options\n\ndef main"),
            settings="options = read()\n",
        )[FILES].state
        is State.OPEN
    )


def test_a_device_by_local_rank_beside_the_current_one_is_open(tmp_path: Path) -> None:
    moved = GOOD.replace("    torch.cuda.set_device(hvd.local_rank())\n", "")
    moved = moved.replace(".cuda()", ".to(hvd.local_rank())")
    assert table(tmp_path, moved)[DEVICE].state is State.PROVEN
    for use in (
        "data.cuda()",
        "data.to('cuda')",
        "data.to(device='cuda')",
        "torch.device('cuda' if big else 'cpu')",
    ):
        text = moved.replace("    for epoch", f"    {use}\n    for epoch")
        row = table(tmp_path, text)[DEVICE]
        assert row.state is State.OPEN, use
        assert "all of a host use its first GPU at train.py:13" in row.detail
        chosen = text.replace("    hvd.init()\n", "    hvd.init(); torch.cuda.set_device(hvd.local_rank())\n")
        assert table(tmp_path, chosen)[DEVICE].state is State.PROVEN


def test_modules_whose_parameters_are_gathered_are_broadcast_with_the_optimizer(tmp_path: Path) -> None:
    text = """\
        import horovod.torch as hvd
        import torch
        from nets import Net

        class Trainer:
            def __init__(self, kind):
                hvd.init()
                self.models, self.params = {}, []
                self.models["one"] = Net(1)
                self.params += list(self.models["one"].parameters())
                if kind == "small":
                    self.models["two"] = Net(2)
                else:
                    self.models["two"] = Net(3)
                self.params += list(self.models["two"].parameters())
                self.optimizer = hvd.DistributedOptimizer(torch.optim.Adam(self.params))
                hvd.broadcast_parameters(
                    list(enumerate(p for group in self.optimizer.param_groups for p in group["params"]))
                )

            def train(self, x):
                self.models["two"](self.models["one"](x)).sum().backward()
                self.optimizer.step()

        Trainer(KIND).train(data)
        """
    nets = """\
        import torch

        class Net(torch.nn.Module):
            def __init__(self, size):
                super().__init__()
                self.body = torch.nn.Linear(size, size)
        """
    assert table(tmp_path, text, nets=nets)[WEIGHTS].state is State.PROVEN
    without = dedent(text).replace('        self.params += list(self.models["two"].parameters())\n', "")
    row = table(tmp_path, without, nets=nets)[WEIGHTS]
    assert row.state is State.OPEN
    assert "train.py:12" in row.detail


def test_what_runs_the_model_on_all_devices_of_the_host_is_left_over(tmp_path: Path) -> None:
    called = "torch.nn.parallel.replicate(model, DEVICES)"
    row = table(tmp_path, GOOD.replace("model(x).sum()", f"{called}[0](x).sum()"))[LEFTOVERS]
    assert row.detail.startswith("the model runs on all GPUs of the host, and every rank would, at train.py:")
    own = "class Parallel(torch.nn.DataParallel): ...\n\ndef main"
    made = GOOD.replace("def main", own).replace("    for epoch", "    wide = Parallel(model)\n    for epoch")
    assert table(tmp_path, made)[LEFTOVERS].state is State.OPEN


def test_what_a_trainer_that_a_configuration_names_makes_is_not_passed_over(tmp_path: Path) -> None:
    text = """\
        import horovod.torch as hvd
        import torch
        import trainers

        hvd.init()
        torch.cuda.set_device(hvd.local_rank())
        trainers.__dict__[read()].__dict__["Trainer"]().train()
        """
    trainers = """\
        import torch
        from torch.utils.data import DataLoader

        class Trainer:
            def __init__(self):
                self.loader = DataLoader(data, shuffle=True)
                self.log = torch.utils.tensorboard.SummaryWriter("logs")

            def train(self):
                for x in self.loader:
                    self.model(x).sum().backward()
                    self.optimizer.step()
        """
    rows = table(tmp_path, text, trainers=trainers)
    assert "trainers.py:6" in rows[SHARDED].detail
    assert "every rank writes at trainers.py:7" in rows[FILES].detail


def test_what_a_computed_name_imports_may_train(tmp_path: Path) -> None:
    """A job whose model is in a module that a configuration names: that nothing is trained is not known."""
    path = tmp_path / "train.py"
    path.write_text(
        "import importlib\nimport json\nimport torch\nimport torch.distributed as dist\n\n\n"
        "def main():\n"
        "    dist.init_process_group('nccl')\n"
        "    settings = json.load(open('settings.json'))\n"
        "    module = importlib.import_module(settings['file'])\n"
        "    getattr(module, settings['name'])(torch.zeros(1))\n\n\n"
        "main()\n"
    )
    (program,) = make_plan([path], Options()).programs
    rows = {row.name: row for row in program.conditions}
    row = rows["every optimizer averages gradients"]
    assert row.state is State.OPEN
    assert "computed name at train.py:10" in row.detail


def test_an_attack_fills_the_gradients_of_what_is_trained(tmp_path: Path) -> None:
    """Its optimizer is not wrapped; its backward pass comes to the hooks of the model's parameters."""
    path = tmp_path / "train.py"
    path.write_text(
        "import torch\n\n\n"
        "def attack(model, images):\n"
        "    w = torch.atanh(images).detach()\n"
        "    w.requires_grad = True\n"
        "    optimizer = torch.optim.Adam([w], lr=0.1)\n"
        "    for step in range(3):\n"
        "        changed = torch.tanh(w)\n"
        "        optimizer.zero_grad()\n"
        "        model(changed).sum().backward()\n"
        "        optimizer.step()\n"
        "    return changed\n\n\n"
        "model = torch.nn.Linear(2, 1)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for images in torch.utils.data.DataLoader(data):\n"
        "    optimizer.zero_grad()\n"
        "    model(attack(model, images)).sum().backward()\n"
        "    optimizer.step()\n"
    )
    plan = make_plan([path], Options())
    assert "Adam([w], lr=0.1)\n    for" in plan.files[0].after
    (program,) = plan.programs
    rows = {row.name: row for row in program.conditions}
    row = rows["every optimizer averages gradients"]
    assert row.state is State.OPEN
    assert "train.py:11" in row.detail
