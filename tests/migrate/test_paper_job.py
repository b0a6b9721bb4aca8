"""The paper job beside the table: it takes away what does not hold, and names the place and the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import Condition, State

SHARDED = "training data is sharded by rank"
EPOCHS = "each epoch has a different order"
WEIGHTS = "ranks start from the same weights"
FILES = "files are written by rank 0 only"
MEET = "collectives meet"

SINGLE = """\
import random, time
import torch
from torch.utils.data import DataLoader, TensorDataset, random_split

data = TensorDataset(torch.linspace(0, 1, 64))
{}
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(data, batch_size=4, shuffle=True)
for epoch in range(3):
    for x, in loader:
        optimizer.zero_grad()
        {}.backward()
        optimizer.step()
{}
"""
PARALLEL = """\
import functools, os
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("gloo")
rank, local_rank = dist.get_rank(), int(os.environ["LOCAL_RANK"])
data = TensorDataset(torch.linspace(0, 1, 64))
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=4, sampler=sampler)
model = DistributedDataParallel(torch.nn.Linear(1, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
{}
for epoch in range(3):
    {}
    for x, in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
{}
"""
LOSS = "model(x).sum()"
TOLD = "sampler.set_epoch(epoch)"


def rows(folder: Path, text: str) -> dict[str, Condition]:
    """The table of the migrated program."""
    (folder / "train.py").write_text(text)
    (program,) = make_plan([folder], Options()).programs
    return {row.name: row for row in program.conditions}


def opened(folder: Path, text: str, row: str) -> tuple[list[int], str]:
    """The lines of an open row, and its sentence."""
    found = rows(folder, text)[row]
    assert found.state is State.OPEN
    return [spot.line for spot in found.spots], found.detail


def test_a_seed_that_each_rank_draws(tmp_path: Path) -> None:
    split = "torch.manual_seed(random.randint(0, 9))\ndata, rest = random_split(data, [48, 16])"
    lines, detail = opened(tmp_path, SINGLE.format(split, LOSS, ""), SHARDED)
    assert lines == [7]
    assert detail == (
        "each rank splits the data differently at train.py:7: "
        "its seed is drawn by each rank for itself at train.py:6"
    )


def test_a_frozen_network_with_the_clock_as_its_seed(tmp_path: Path) -> None:
    made = "now = time.time_ns()\ntorch.manual_seed(now)\nteacher = torch.nn.Linear(1, 1)"
    text = SINGLE.format(made, "(model(x) - teacher(x)).sum()", "")
    lines, detail = opened(tmp_path, text, WEIGHTS)
    assert lines == [8]
    assert detail.endswith("its seed is the time, which differs on each rank at train.py:6")


def test_a_copy_of_the_weights_above_the_broadcast_that_is_loaded_again(tmp_path: Path) -> None:
    text = SINGLE.format("import copy", LOSS, "model.load_state_dict(first)")
    text = text.replace("optimizer = torch", "first = copy.deepcopy(model.state_dict())\noptimizer = torch")
    assert opened(tmp_path, text, WEIGHTS)[0] == [16]


@pytest.mark.parametrize(("most", "state"), [(1, State.PROVEN), (2, State.OPEN)])
def test_a_wrap_under_a_number_that_a_function_returns(tmp_path: Path, most: int, state: State) -> None:
    """The run has four ranks, and says nothing of a job of two where more are asked for."""
    several = "    if dist.get_world_size() > 1:\n        return dist.get_rank(), dist.get_world_size()\n"
    numbers = f"def numbers():\n{several}    return 0, 1\n"
    made = "model = DistributedDataParallel(torch.nn.Linear(1, 1))"
    wrapped = (
        f"{numbers}\nmodel = torch.nn.Linear(1, 1)\nrank, size = numbers()\n"
        f"if size > {most}:\n    model = DistributedDataParallel(model)"
    )
    text = PARALLEL.format("", TOLD, "pass").replace(made, wrapped)
    assert made not in text
    assert rows(tmp_path, text)[WEIGHTS].state is state


def test_one_epoch_for_all(tmp_path: Path) -> None:
    assert opened(tmp_path, PARALLEL.format("sampler.set_epoch(0)", "pass", ""), EPOCHS)[0] == [15]
    assert rows(tmp_path, PARALLEL.format("", TOLD, ""))[EPOCHS].state is State.PROVEN


def test_a_save_under_another_name(tmp_path: Path) -> None:
    save = "save = functools.partial(torch.save, model.module.state_dict())\nsave('a.pt')"
    lines, detail = opened(tmp_path, PARALLEL.format("", TOLD, save), FILES)
    assert lines == [23] and detail == "every rank writes the same file at train.py:23"


def test_a_barrier_of_one_rank_of_each_host(tmp_path: Path) -> None:
    lines, detail = opened(
        tmp_path, PARALLEL.format("", TOLD, "if local_rank == 0:\n    dist.barrier()"), MEET
    )
    assert lines == [23]
    assert detail == "not all ranks come to barrier at train.py:23, and those that do block forever"
    assert rows(tmp_path, PARALLEL.format("", TOLD, "dist.barrier()"))[MEET].state is State.PROVEN


def test_helpers_of_another_file(tmp_path: Path) -> None:
    """Also of one that names no framework."""
    (tmp_path / "seeds.py").write_text(
        "import random\n\ndef pick(most=9):\n    return random.randint(0, most)\n"
    )
    split = "from seeds import pick\ntorch.manual_seed(pick())\ndata, rest = random_split(data, [48, 16])"
    assert opened(tmp_path, SINGLE.format(split, LOSS, ""), SHARDED)[0] == [8]


@pytest.mark.parametrize("seed", ["torch.manual_seed(1)", "seed = 7\ntorch.manual_seed(seed + 1)"])
def test_what_is_the_same_on_all_ranks_holds(tmp_path: Path, seed: str) -> None:
    text = SINGLE.format(f"{seed}\ndata, rest = random_split(data, [48, 16])", LOSS, "")
    found = rows(tmp_path, text)
    assert [row.name for row in found.values() if row.state is State.OPEN] == []


@pytest.mark.parametrize(
    "save",
    [
        "torch.save({}, 'a.pt') if rank == 0 else None",
        "for turn in range(rank == 0):\n    torch.save({}, 'a.pt')",
        "if rank == dist.get_world_size() - 1:\n    torch.save({}, 'a.pt')",
        "def save():\n    if rank:\n        pass\n    else:\n        torch.save({}, 'a.pt')\nsave()",
        "def save():\n    if rank:\n        return\n    torch.save({}, 'a.pt')\nsave()",
        "def unused():\n    torch.save({}, 'a.pt')",
    ],
)
def test_a_save_of_one_rank_is_left_alone(tmp_path: Path, save: str) -> None:
    text = PARALLEL.format("", TOLD, save)
    (tmp_path / "train.py").write_text(text)
    plan = make_plan([tmp_path], Options())
    assert not plan.leaves
    (file,) = plan.files
    assert save in file.after.replace("dist.get_world_size()", "hvd.size()").replace(
        "hvd.size()", "dist.get_world_size()"
    )


def test_a_save_that_another_call_reaches_is_still_seen(tmp_path: Path) -> None:
    save = "def save():\n    torch.save({}, 'a.pt')\nif rank == 0:\n    save()\nsave()"
    assert opened(tmp_path, PARALLEL.format("", TOLD, save), FILES)[0] == [23]


def test_a_file_in_a_folder_of_each_process_is_no_file_of_all(tmp_path: Path) -> None:
    copy = "import shutil, tempfile\nwith tempfile.TemporaryDirectory() as folder:\n"
    copy += "    shutil.copyfile('a.py', os.path.join(folder, 'b.py'))"
    (tmp_path / "train.py").write_text(PARALLEL.format(copy, TOLD, ""))
    assert not make_plan([tmp_path], Options()).leaves


SHARED = {
    "a sampler over its own numbers": (
        "mine = range(rank, len(data), dist.get_world_size())\n"
        "loader = DataLoader(data, 4, sampler=torch.utils.data.SubsetRandomSampler(list(mine)))",
        True,
    ),
    "sorted names": (
        "names = sorted({str(n) for n in range(64)})[rank :: dist.get_world_size()]\n"
        "loader = DataLoader(torch.utils.data.Subset(data, [int(name) for name in names]), 4, shuffle=True)",
        True,
    ),
    "names in the order of a set": (
        "names = list({str(n) for n in range(64)})[rank :: dist.get_world_size()]\n"
        "loader = DataLoader(torch.utils.data.Subset(data, [int(name) for name in names]), 4, shuffle=True)",
        False,
    ),
    "numbers that all ranks have": (
        "mine = range(0, len(data), dist.get_world_size())\n"
        "loader = DataLoader(data, 4, sampler=torch.utils.data.SubsetRandomSampler(list(mine)))",
        False,
    ),
}


@pytest.mark.parametrize("name", SHARED)
def test_ranks_that_take_turns(tmp_path: Path, name: str) -> None:
    loader, holds = SHARED[name]
    text = PARALLEL.format(loader, "pass", "").replace("sampler = DistributedSampler(data)\n", "")
    text = text.replace("loader = DataLoader(data, batch_size=4, sampler=sampler)\n", "")
    assert rows(tmp_path, text)[SHARDED].state is (State.PROVEN if holds else State.OPEN)


@pytest.mark.parametrize(("step", "holds"), [("dist.get_world_size()", True), ("1", False)])
def test_batches_that_ranks_take_in_turns(tmp_path: Path, step: str, holds: bool) -> None:
    text = PARALLEL.format("from itertools import islice", "pass", "").replace(
        "for x, in loader", f"for x, in islice(loader, rank, None, {step})"
    )
    text = text.replace(", sampler=sampler", "").replace("sampler = DistributedSampler(data)\n", "")
    assert rows(tmp_path, text)[SHARDED].state is (State.PROVEN if holds else State.OPEN)


LISTED = """\
import glob

class Files(torch.utils.data.Dataset):
    def __init__(self, folders):
        self.paths = self.find(folders)

    def find(self, folders):
        paths = []
        for folder in folders:
            paths += glob.glob(folder + "/*")
        return sorted(path for path in paths if path)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, number):
        return torch.tensor([float(open(self.paths[number]).read())])

data = Files(["a", "b"])"""


def test_files_that_are_sorted_below_their_listing(tmp_path: Path) -> None:
    text = PARALLEL.format("", TOLD, "").replace("data = TensorDataset(torch.linspace(0, 1, 64))", LISTED)
    assert rows(tmp_path, text)[SHARDED].state is State.PROVEN
    unsorted = text.replace("sorted(path for path in paths if path)", "paths")
    assert rows(tmp_path, unsorted)[SHARDED].state is State.OPEN


MEETING = "import torch.distributed as dist\n\ndef meet():\n    dist.barrier()\n\ndef other(): pass\n"


@pytest.mark.parametrize(
    ("call", "state"),
    [
        ("helpers.meet()", State.PROVEN),
        ("for name in 'ab': helpers.meet()", State.PROVEN),
        ("for batch in loader: helpers.meet()", State.PROVEN),
        ("for _ in range(rank): helpers.meet()", State.OPEN),
        ("for _ in range(rank + 1): helpers.meet()", State.OPEN),
        ("[helpers.meet() for _ in range(rank)]", State.OPEN),
        ("for _ in range(rank, 10, dist.get_world_size()): helpers.meet()", State.OPEN),
        ("assert rank == 0\nhelpers.meet()", State.OPEN),
        # Not known: how many turns each rank takes, and whether a run comes there.
        ("for x in data.tensors[0][rank::4]: helpers.meet()", None),
        ("import importlib\nimportlib.import_module('helpers').meet()", None),
    ],
)
def test_what_is_known_of_collectives(tmp_path: Path, call: str, state: State | None) -> None:
    (tmp_path / "helpers.py").write_text(MEETING)
    found = rows(tmp_path, PARALLEL.format("import helpers", TOLD, call))
    assert (found[MEET].state if MEET in found else None) is state
