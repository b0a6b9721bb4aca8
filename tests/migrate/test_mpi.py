"""Wherever mpi4py's COMM_WORLD goes, all of it becomes Horovod's, or none: never a part."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import Plan

HEAD = """\
import torch
import torch.distributed as dist
from mpi4py import MPI

dist.init_process_group("gloo")

class Keeper:
    def __init__(self, comm):
        self.comm = comm

"""
WORLD = "import torch\nfrom mpi4py import MPI\n\ncomm = MPI.COMM_WORLD\n"

ALL = {
    "an attribute of a class": """\
        class Holder:
            comm = MPI.COMM_WORLD
            def rank(self):
                return self.comm.rank
        Holder().rank()
        """,
    "a property": """\
        class Holder:
            @property
            def comm(self):
                return MPI.COMM_WORLD
            def rank(self):
                return self.comm.rank
        Holder().rank()
        """,
    "a parent's": """\

        class Child(Keeper):
            def __init__(self, comm):
                super().__init__(comm)
            def rank(self):
                return self.comm.rank
        Child(MPI.COMM_WORLD).rank()
        """,
    "a global": """\
        comm = None
        def start():
            global comm
            comm = MPI.COMM_WORLD
        def rank():
            return 0 if comm is None else comm.Get_rank()
        start()
        rank()
        """,
    "a function's result": """\
        def world():
            return MPI.COMM_WORLD
        print(world().rank, world().allgather(3))
        """,
    "a default": """\
        def send(x, comm=MPI.COMM_WORLD):
            return comm.bcast(x)
        send(3)
        """,
    "the world where nothing is given": """\
        def send(x, comm=None):
            comm = comm or MPI.COMM_WORLD
            return comm.bcast(x)
        def gather(x, comm=None):
            if comm is None:
                comm = MPI.COMM_WORLD
            return comm.allgather(x)
        send(3)
        """,
    "a lambda": "comm = MPI.COMM_WORLD\nrank = lambda: comm.Get_rank()\n",
    "one that is deleted": """\
        def rank():
            comm = MPI.COMM_WORLD
            found = comm.rank
            del comm
            return found
        rank()
        """,
    "calls in calls": "comm = MPI.COMM_WORLD\ncomm.bcast(comm.allgather(comm.rank), root=comm.size - 1)\n",
}
NOTHING = {
    "a dict": 'known = {"comm": MPI.COMM_WORLD}\nprint(MPI.COMM_WORLD.rank)\n',
    "a list": "for comm in [MPI.COMM_WORLD]:\n    comm.barrier()\n",
    "a tuple": "comm, number = MPI.COMM_WORLD, 3\ncomm.send(number, dest=1)\n",
    "an expression that assigns": "if comm := MPI.COMM_WORLD:\n    comm.send(1, dest=1)\n",
    "memory that is filled": "def go(keeper, x):\n    keeper.comm.Bcast(x)\ngo(Keeper(MPI.COMM_WORLD), 3)\n",
    "a name in a text": "print(getattr(Keeper(MPI.COMM_WORLD), 'comm').rank)\n",
    "an object that is not known": "Keeper(MPI.COMM_WORLD)\ndef rank(x):\n    return x.comm.rank\n",
    "a constructor that is inherited": """\

        class Child(Keeper):
            def rank(self):
                return self.comm.rank
        Child(MPI.COMM_WORLD).rank()
        """,
    "handed on from what is not known": """\

        Keeper(MPI.COMM_WORLD)
        def ask(comm):
            return comm.rank
        def rank(x):
            return ask(x.comm)
        """,
    "a property that sends": """\
        class Holder:
            @property
            def comm(self):
                return MPI.COMM_WORLD
            def go(self):
                self.comm.send(2, dest=1)
        Holder().go()
        """,
    "a method of what is not known": """\
        class Holder:
            def world(self):
                return MPI.COMM_WORLD
        def go(x):
            x.world().send(2, dest=1)
        """,
    "a generator": """\
        def worlds():
            yield MPI.COMM_WORLD
        for comm in worlds():
            comm.send(1, dest=0)
        """,
    "arguments that are collected": "def f(*rest):\n    rest[0].barrier()\nf(MPI.COMM_WORLD)\n",
    "an alias of the module": "M = MPI\nprint(M.COMM_WORLD.rank)\n",
    "its type": "comm = MPI.COMM_WORLD\nassert isinstance(comm, MPI.Comm)\n",
    "no call": "import atexit\natexit.register(MPI.COMM_WORLD.Barrier)\n",
    "a rank in what is added up": "comm = MPI.COMM_WORLD\ntotal = comm.allreduce(comm.rank)\n",
    "a reduction of another kind": "total = MPI.COMM_WORLD.allreduce(3, op=MPI.PROD)\n",
    "arguments in stars": "MPI.COMM_WORLD.bcast(*[3])\n",
    "arguments the other way round": "MPI.COMM_WORLD.bcast(root=0, obj=f(3))\n",
}
FILES = {
    "a name from another file": ("from world import comm\ncomm.send(1, dest=0)\n", WORLD),
    "another file's attribute": ("import world\nworld.comm.send(1, dest=0)\n", WORLD),
    "all names of another file": ("from world import *\ncomm.send(1, dest=0)\n", WORLD),
    "the module from another file": ("from world import MPI as M\nprint(M.COMM_WORLD.rank)\n", WORLD),
    "the module by a star": (
        "del MPI\nfrom world import *\nprint(M.COMM_WORLD.rank)\n",
        "import torch\nfrom mpi4py import MPI as M\n",
    ),
    "the world itself": (
        "from world import comm\nprint(comm.rank)\n",
        "import torch\nfrom mpi4py.MPI import COMM_WORLD as comm\n",
    ),
    "the module in another file": ("import world\nprint(world.MPI.COMM_WORLD.rank)\n", WORLD),
}


def plan_of(folder: Path, text: str, world: str = "") -> Plan:
    """The plan of train.py, and of world.py beside it."""
    (folder / "train.py").write_text(HEAD + dedent(text))
    if world:
        (folder / "world.py").write_text(world)
    plan = make_plan([folder], Options())
    assert not any(file.problem for file in plan.files)
    return plan


@pytest.mark.parametrize("text", ALL.values(), ids=ALL)
def test_all_of_it_becomes_horovods(text: str, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, text)
    assert not any(program.refused for program in plan.programs)
    (file,) = plan.changed
    assert "MPI" not in file.after and "mpi4py" not in file.after
    compile(file.after, "train.py", "exec")


@pytest.mark.parametrize("text", NOTHING.values(), ids=NOTHING)
def test_nothing_of_it_is_touched(text: str, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, text)
    assert all(program.refused.startswith("HVD") for program in plan.programs)
    assert not plan.changed


@pytest.mark.parametrize(("text", "world"), FILES.values(), ids=FILES)
def test_nothing_is_touched_where_another_file_gives_it(text: str, world: str, tmp_path: Path) -> None:
    assert not plan_of(tmp_path, text, world).changed
