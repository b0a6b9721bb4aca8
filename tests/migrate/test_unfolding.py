"""Statements that share a line are put on lines of their own where an edit needs that, and nowhere else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import FilePlan
from hvdkit.source.index.indexing import index
from hvdkit.source.read.source import Original, Source, parse

HEAD = "import torch.distributed as dist\n"
GATHER = "dist.all_gather(parts, part)"
LOOP = "for output, row in zip(parts, hvd.allgather(part.detach().unsqueeze(0))):"
CASES = {
    "below an if": ("if several: GATHER_  # all", "if several:\n    LOOP_  # all"),
    "below an else": ("if alone:\n    pass\nelse: GATHER_", "if alone:\n    pass\nelse:\n    LOOP_"),
    "below an elif": ("if alone: pass\nelif several: GATHER_", "if alone: pass\nelif several:\n    LOOP_"),
    "in try and finally": (
        "try: GATHER_\nexcept OSError: print(1)\nfinally: print(2)",
        "try:\n    LOOP_\nexcept OSError: print(1)\nfinally: print(2)",
    ),
    "below except": ("try: print(1)\nexcept OSError: GATHER_", "try: print(1)\nexcept OSError:\n    LOOP_"),
    "first of three": ("GATHER_; a = 1; b = 2", "LOOP_\na = 1; b = 2"),
    "second of three": ("a = 1; GATHER_; b = 2", "a = 1\nLOOP_\nb = 2"),
    "last, with a semicolon": ("a = 1; GATHER_;  # all", "a = 1\nLOOP_  # all"),
    "in a function": (
        "def f(): print(0); GATHER_; return 1\nf()",
        "def f():\n    print(0)\n    LOOP_\n    return 1\nf()",
    ),
    "behind several lines": ("a = [\n  1,\n]; GATHER_", "a = [\n  1,\n]\nLOOP_"),
    "deep, by tabs": (
        "def f():\n\tif several: GATHER_; print(1)\nf()",
        "def f():\n\tif several:\n\t\tLOOP_\n\t\tprint(1)\nf()",
    ),
}


def with_loop(text: str) -> str:
    """A text with the loop in the place of LOOP_, indented like it."""
    unit = "\t" if "\t" in text else "    "
    return re.sub(r"(?m)^([ \t]*)LOOP_", lambda m: f"{m[1]}{LOOP}\n{m[1]}{unit}output.copy_(row)", text)


def planned(folder: Path, text: str, suggested: bool = False) -> FilePlan:
    """The plan of one file."""
    (folder / "train.py").write_bytes(text.encode())
    (file,) = make_plan([folder / "train.py"], Options(suggested=suggested)).files
    assert not file.problem
    return file


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("case", CASES)
def test_a_statement_gets_lines_of_its_own(case: str, newline: str, tmp_path: Path) -> None:
    before, after = CASES[case]
    text = f"{HEAD}{before.replace('GATHER_', GATHER)}\nprint(dist.get_rank())\n"
    wanted = f"import horovod.torch as hvd\n{with_loop(after)}\nprint(hvd.rank())\n"
    assert planned(tmp_path, text.replace("\n", newline)).after == wanted.replace("\n", newline)


def test_what_needs_no_line_stays_on_its_own(tmp_path: Path) -> None:
    file = planned(tmp_path, f"{HEAD}if several: print(dist.get_rank()); a = 1; b = 2\n")
    assert file.after.endswith("if several: print(hvd.rank()); a = 1; b = 2\n")


def test_places_are_those_of_the_file(tmp_path: Path) -> None:
    """What is told of lines below the one that was parted counts the lines as the person sees them."""
    text = f"{HEAD}a = 1; {GATHER}; b = 2\nprint(dist.get_rank(group))\n"
    file = planned(tmp_path, text)
    assert file.before == text
    assert {(found.rule, found.line) for found in file.findings} >= {("HVD503", 2), ("HVD103", 3)}


def test_a_refused_program_keeps_its_text(tmp_path: Path) -> None:
    sharded = "from torch.distributed.fsdp import FullyShardedDataParallel\nFullyShardedDataParallel(net)\n"
    file = planned(tmp_path, f"{HEAD}a = 1; {GATHER}\n{sharded}")
    assert not file.changed


def test_a_notebooks_cell_is_left_to_the_person(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "source": [HEAD, f"a = 1; {GATHER}"], "metadata": {}, "outputs": []}
    path = tmp_path / "train.ipynb"
    path.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    (file,) = make_plan([path], Options()).files
    assert "put it on separate lines" in " ".join(found.advice for found in file.findings)


def test_a_line_that_is_told_is_the_files_own() -> None:
    parted = parse(Path("train.py"), b"a = 1\nb = 2\nc = 3\n")
    assert isinstance(parted, Source)
    parted.original = Original("a = 1; b = 2\nc = 3\n", [1, 1, 2, 3])
    names = index(parted)
    assert [names.line(statement) for statement in parted.tree.body] == ["1", "1", "2"]
    assert names.place(parted.tree.body[2]) == "train.py:2"
