"""Which processes write a file, however the program says it."""

from __future__ import annotations

import ast
import sys
from textwrap import indent

import pytest
from paper import HEAD, writers

from hvdkit.conditions.objection import ranks_with
from hvdkit.job.run import Run
from hvdkit.job.store import Module

SAVE = 'torch.save({}, "weights.pt")\n'

RANK_0 = {
    "a test": "if not rank:\n    SAVE",
    "a conditional expression": "SAVE if rank == 0 else print()",
    "a short circuit": "rank == 0 and SAVE",
    "the other way of an or": "rank or SAVE",
    "a loop of no or one turn": "for turn in range(int(rank == 0)):\n    SAVE",
    "a while loop": "left = rank == 0\nwhile left:\n    SAVE\n    left = False",
    "a list of who writes": "for writer in [0]:\n    if writer == rank:\n        SAVE",
    "a dictionary of tests": 'roles = {"writer": rank == 0}\nif roles["writer"]:\n    SAVE',
    "a chained comparison": "if -1 < rank < 1:\n    SAVE",
    "membership": "if rank in (0, -1):\n    SAVE",
    "a last rank": "if hvd.size() - rank == 1:\n    SAVE",
    "both numbers": "if hvd.local_rank() == 0 and hvd.cross_rank() == 0:\n    SAVE",
    "an assignment in a test": "if (mine := hvd.rank()) == 0:\n    SAVE",
    "a variable of the environment": 'if os.environ.get("RANK", "0") == "0":\n    SAVE',
    "an early return": "def save():\n    if rank:\n        return\n    SAVE\nsave()",
    "an error": "def save():\n    if rank:\n        raise OSError\n    SAVE\nsave()",
    "continue": "for turn in range(9):\n    if rank > 0:\n        continue\n    SAVE",
    "a closure": (
        "def when(test):\n    def save():\n        if test:\n            SAVE\n    return save\n"
        "when(rank == 0)()"
    ),
    "a keyword": "def save(*, first):\n    if first:\n        SAVE\nsave(first=rank == 0)",
    "arguments that are passed on": (
        "def save(main, path='a'):\n    if main:\n        SAVE\ndef call(*args, **kwargs):\n"
        "    save(*args, **kwargs)\ncall(main=rank == 0)"
    ),
    "a default": "def save(main=rank == 0):\n    if main:\n        SAVE\nsave()",
    "a partial": "def save(main, name):\n    if main:\n        SAVE\nfunctools.partial(save, rank == 0)('a')",
    "a decorator with an argument": (
        "def only(number):\n    def decorate(function):\n        @functools.wraps(function)\n"
        "        def inner(*args):\n            if rank == number:\n                return function(*args)\n"
        "        return inner\n    return decorate\n@only(0)\ndef save():\n    SAVE\nsave()"
    ),
    "a property": (
        "class Run:\n    @property\n    def main(self):\n        return hvd.rank() == 0\n"
        "    def save(self):\n        if self.main:\n            SAVE\nRun().save()"
    ),
    "a class attribute": "class Run:\n    main = rank == 0\nif Run.main:\n    SAVE",
    "a base class": (
        "class Base:\n    def __init__(self, main):\n        self.main = main\n"
        "class Run(Base):\n    def __init__(self):\n        super().__init__(rank == 0)\n"
        "if Run().main:\n    SAVE"
    ),
    "a static method": (
        "class Ranks:\n    @staticmethod\n    def first():\n        return hvd.rank() == 0\n"
        "if Ranks.first():\n    SAVE"
    ),
    "a generator": "def paths():\n    if rank == 0:\n        yield 'a.pt'\nfor path in paths():\n    SAVE",
    "a comprehension": "[SAVE for number in [rank] if number == 0]",
    "a global": "main = 0\ndef start():\n    global main\n    main = rank == 0\nstart()\nif main:\n    SAVE",
    "a test of an unknown and the rank": "if hvd.rank() == 0 and os.path.exists('a'):\n    SAVE",
    "a function from a list": "def save():\n    SAVE\ndef wait():\n    pass\n(save if rank == 0 else wait)()",
    "its own file": 'torch.save({}, f"weights_{rank}.pt")',
    "its own folder": "import tempfile\ntorch.save({}, os.path.join(tempfile.mkdtemp(), 'a.pt'))",
    "nowhere": "open('/dev/null', 'w')",
    "nobody calls it": "def save():\n    SAVE",
    "reading": "open('a.txt')",
}
SEVERAL = {
    "all": "SAVE",
    "one of each host": "if hvd.local_rank() == 0:\n    SAVE",
    "all but one": "if rank > 0:\n    SAVE",
    "every second": "if rank % 2 == 0:\n    SAVE",
    "a path object": "import pathlib\nif rank < 2:\n    pathlib.Path('a.txt').write_text('')",
    "a partial of the library": "functools.partial(torch.save, {})('weights.pt')",
    "a method of a subclass": (
        "class Base:\n    def end(self):\n        self.save()\nclass Run(Base):\n    def save(self):\n"
        "        SAVE\nRun().end()"
    ),
    "by an option": "args = argparse.ArgumentParser().parse_args()\nif args.keep:\n    SAVE",
    "one of several by name": (
        "args = argparse.ArgumentParser().parse_args()\ndef one():\n    SAVE\ndef two():\n    pass\n"
        "{'one': one, 'two': two}[args.kind]()"
    ),
    "after a test that says nothing": "if rank == 0:\n    print()\nSAVE",
    "a registry": (
        "hooks = []\ndef hook(function):\n    hooks.append(function)\n    return function\n@hook\n"
        "def save():\n    SAVE\nfor each in hooks:\n    each()"
    ),
}


def program(text: str) -> str:
    """The program of a form: the save is one expression, or a line."""
    return text.replace("SAVE", SAVE.strip())


@pytest.mark.parametrize("name", RANK_0)
def test_one_process_writes(name: str) -> None:
    assert writers(program(RANK_0[name])) == []


@pytest.mark.parametrize("name", SEVERAL)
def test_several_processes_write(name: str) -> None:
    assert len(writers(program(SEVERAL[name]))) == 1


def test_a_function_of_another_file() -> None:
    ranks = "import horovod.torch as hvd\ndef is_first():\n    return hvd.rank() == 0\n"
    text = "import ranks\nfrom ranks import is_first\nif is_first() and ranks.is_first():\n    " + SAVE
    assert writers(text, ranks=ranks) == []
    assert writers("from ranks import *\n" + SAVE, ranks=ranks) == [2]


if sys.version_info >= (3, 10):

    def test_match() -> None:
        text = "match hvd.rank(), True:\n    case 0, True:\n        SAVE\n    case _:\n        pass\n"
        assert writers(program(text)) == []


def test_what_an_unknown_library_calls_is_not_known_to_write() -> None:
    assert writers(f"import unknown\ndef save():\n{indent(SAVE, '    ')}unknown.at_end(save)\n") == []


def test_a_method_whose_object_a_library_gives_it() -> None:
    text = "import unknown\nclass Run(unknown.Base):\n"
    text += "    def end(self):\n        super().end()\n        SAVE\n"
    assert writers(program(text + "unknown.at_end(Run.end)\n")) == []


def test_rank_0_alone_runs_what_is_decorated_so() -> None:
    text = "from pytorch_lightning.utilities import rank_zero_only\n"
    text += "@rank_zero_only\ndef save():\n    SAVE\nsave()\n"
    assert writers(program(text)) == []


def test_the_number_that_joins_a_process_is_its_rank() -> None:
    text = (
        "import torch.distributed as dist\nargs = argparse.ArgumentParser().parse_args()\n"
        "dist.init_process_group('gloo', rank=args.rank, world_size=args.size)\n"
        "if args.size == 1 or args.rank == 0:\n    SAVE\n"
    )
    assert writers(program(text)) == []


UNCALLED = """\
class Base:
    def end(self):
        if rank == 0:
            self.save()
class Run(Base):
    def save(self):
        SAVE
def save():
    SAVE
def main():
    if rank == 0:
        save()
"""


def test_functions_that_nothing_calls_are_run_by_themselves() -> None:
    entry = Module("train", "train", ast.parse(HEAD + program(UNCALLED)))
    found = Run(entry, lambda name, importer: None)
    assert not found.record.written
    written = found.functions_of(entry).written
    assert [ranks_with(each.active) for each in written] == [[1], [1]]
