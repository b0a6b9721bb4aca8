"""Whether a place is on the ways to a node: chains of any length, and functions that call each other."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from hvdkit.migrate.facts import Facts, Options
from hvdkit.migrate.facts.code.callers import on_every_way, on_some_way
from hvdkit.source.index.names import Names
from hvdkit.source.project.opening import open_project

CHAIN = "".join(f"def f{n}():\n    f{n + 1}()\n" for n in range(40)) + "def f40():\n    torch.save({}, 'x')\n"
MUTUAL = "def f0():\n    f1()\ndef f1():\n    f0()\n    torch.save({}, 'x')\n"


def asked(folder: Path, text: str) -> tuple[bool, bool]:
    """Whether a loop is around torch.save, or around calls that lead there: on every way, on some way."""
    (folder / "train.py").write_text("import torch\n" + text)
    facts = Facts(open_project([folder]), Options())
    [site] = facts.calls("torch.save")

    def in_loop(names: Names, place: ast.AST) -> bool | None:
        return True if names.in_loop(place) else None

    about = facts, site.names, site.node, in_loop
    return on_every_way(*about), on_some_way(*about)


@pytest.mark.parametrize("functions", [CHAIN, MUTUAL], ids=["a chain", "each other"])
@pytest.mark.parametrize(
    ("calls", "answer"),
    [
        ("for i in range(3):\n    f0()\n", (True, True)),
        ("for i in range(3):\n    f0()\nf0()\n", (False, True)),
        ("f0()\n", (False, False)),
        ("", (False, False)),
    ],
    ids=["in a loop", "there and elsewhere", "elsewhere", "nobody"],
)
def test_each_way_is_followed_to_its_end(
    tmp_path: Path, functions: str, calls: str, answer: tuple[bool, bool]
) -> None:
    assert asked(tmp_path, functions + calls) == answer
