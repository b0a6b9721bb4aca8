"""The program that an image makes of a notebook."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from hvdkit.errors import HvdkitError
from hvdkit.notebook import main
from hvdkit.source.notebook import magics
from hvdkit.source.read.notebook import parse_notebook
from tests.docker.golden import PROJECTS

NOTEBOOK = PROJECTS / "notebook" / "train.ipynb"


def test_the_program_is_all_of_the_cells_but_their_magics(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    main([str(NOTEBOOK), str(program)])
    text = program.read_text(encoding="utf-8")
    called = [ast.unparse(node.func) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    assert {"hvd.init", "optimizer.step", "print"} <= set(called)
    assert "%" not in text and "nvidia-smi" not in text and "A notebook" not in text


def test_magics_are_named_with_their_cells() -> None:
    notebook = parse_notebook(NOTEBOOK.read_text(encoding="utf-8"))
    assert magics(notebook) == ((1, "%matplotlib inline"), (3, "!nvidia-smi"))


def test_a_notebook_that_is_none_ends_the_build(tmp_path: Path) -> None:
    broken = tmp_path / "train.ipynb"
    broken.write_text("{}", encoding="utf-8")
    with pytest.raises(HvdkitError, match="no cells"):
        main([str(broken), str(tmp_path / "train.py")])
    assert not (tmp_path / "train.py").exists()
