"""What is too large or too deep is named and left, within seconds, and the rest of the tree is migrated."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from hvdkit.cli import main
from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.source.project.unit_tests import is_plain_test, is_unit_test
from hvdkit.source.read.source import LARGEST

TRAIN = "import torch.distributed as dist\n\ndist.init_process_group('gloo')\n"
HEAD = "import torch\n"


def notebook(source: object) -> str:
    return json.dumps({"nbformat": 4, "cells": [{"cell_type": "code", "source": source}]})


HOSTILE = {
    "a file of 67 MB": ("x.py", HEAD + "x = 1\n" * 11_000_000, f"more than the {LARGEST} that are read"),
    "a line of 3 MB": ("x.py", HEAD + "x = [" + "1," * 1_500_000 + "]\n", "more than the"),
    "brackets": ("x.py", HEAD + "x = " + "[" * 100_000, "syntax error: too many nested|nested too deeply"),
    # The parser of Python 3.9 and 3.10 follows them to any depth.
    "attributes": (
        "x.py",
        HEAD + "x = a" + ".a" * 200_000 + "\n",
        "nested too deeply" if sys.version_info >= (3, 11) else "",
    ),
    "operators": ("x.py", HEAD + "x = " + "-" * 200_000 + "1\n", "nested too deeply"),
    "calls": ("x.py", HEAD + "x = " + "f(" * 150 + ")" * 150 + "\n", ""),
    "a null byte": ("x.py", HEAD + "x = 1\0\n", "null byte"),
    "JSON brackets": ("x.ipynb", HEAD + "[" * 200_000, "not a JSON object|nested too deeply"),
    "deep metadata": (
        "x.ipynb",
        '{"torch": ' + "[" * 200_000 + "]" * 200_000 + ', "cells": []}',
        "its JSON is nested too deeply|more than",
    ),
    "a number for a source": ("x.ipynb", notebook(["import torch", 3]), "neither text nor a list of lines"),
    "a list for a key": ("x.ipynb", '{[1]: 2, "torch": 3, "cells": []}', "a key is no text"),
    "magics": ("x.ipynb", notebook("import torch\n" + "%time x\n" * 20_000), ""),
    "magics in brackets": (
        "x.ipynb",
        notebook("import torch\nf(\n" + "%x\n" * 20_000),
        "too many lines that may be magics inside of brackets",
    ),
    "half a character": ("x.ipynb", notebook("import torch\nx = '\ud83d'\n"), ""),
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("kind", HOSTILE)
def test_it_is_left_and_the_rest_is_migrated(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name, text, seen = HOSTILE[kind]
    (tmp_path / name).write_text(text)
    (tmp_path / "train.py").write_text(TRAIN)
    monkeypatch.chdir(tmp_path)
    code = main(["migrate", ".", "--write", "--allow-no-vcs", "--no-diff"])
    said = capsys.readouterr()
    assert code == (1 if seen else code), said
    if seen:
        assert any(part in said.out for part in seen.split("|")), said.out[-2000:]
        assert (tmp_path / name).read_text() == text
    assert (tmp_path / "train.py").read_text() == "import horovod.torch as hvd\n\nhvd.init()\n"


def test_files_without_a_statement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last of one is asked for where a program starts."""
    (tmp_path / "p0.py").write_text("# torch\n")
    (tmp_path / "p1.py").write_text("")
    (tmp_path / "train.py").write_text(TRAIN)
    monkeypatch.chdir(tmp_path)
    assert main(["migrate", "."]) in (0, 1)


@pytest.mark.timeout(20)
def test_unit_tests_are_found_in_one_look() -> None:
    assert not is_unit_test(b"import pytest\n" * 100_000)
    assert not is_plain_test("test_x.py", b"class TestX\n" * 100_000)
    assert is_unit_test(b"import pytest\n" * 100_000 + b"def test_x(): pass")
    assert not is_unit_test(b"def test_x(): pass\nimport pytest\n")


@pytest.mark.timeout(60)
def test_variables_that_depend_on_each_other_many_times_are_followed_once(tmp_path: Path) -> None:
    """Each is set again and again from the others, as in a loop over options: this never ended."""
    names = [f"v{i}" for i in range(16)]
    body = "".join(f"    {a} = combine({', '.join(names)})\n" for a in names * 8)
    text = (
        "import glob, torch\nfrom torch.utils.data import DataLoader, Dataset\n\n\n"
        "class Images(Dataset):\n    def __init__(self, files):\n        self.files = files\n\n\n"
        f"def files(folder):\n    {' = '.join(names)} = glob.glob(folder)\n{body}    return v0\n\n\n"
        "model = torch.nn.Linear(2, 1)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for x in DataLoader(Images(files('data')), shuffle=True):\n"
        "    model(x).sum().backward()\n    optimizer.step()\n"
    )
    (tmp_path / "train.py").write_text(text)
    (program,) = make_plan([tmp_path], Options()).programs
    assert {row.name: row.state for row in program.conditions}["training data is sharded by rank"] is not None
