"""Places in a notebook are named by its cells, not by lines of the program that is made of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hvdkit.source.notebook import cells_of, program_of
from hvdkit.verify.hook import places


def code(source: str) -> dict[str, object]:
    return {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    prose = {"cell_type": "markdown", "metadata": {}, "source": "# Title"}
    cells = [code("from hvdkit.verify.hook.places import place_of\n%pwd"), prose]
    cells += [code("\ndef here():\n    return place_of()"), code("found = here()")]
    path = tmp_path / "train.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


def test_the_cell_and_its_line(notebook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(notebook.parent)
    monkeypatch.setattr(places, "_own", {})
    places.begin("train.py", cells_of(notebook, "train.ipynb"))
    try:
        program: dict[str, object] = {"__name__": "__main__"}
        exec(compile(program_of(notebook), str(notebook.with_name("train.py")), "exec"), program)
        assert program["found"] == "train.ipynb:cell 2:3"
        other: dict[str, object] = {"__name__": "__main__"}
        exec(compile(program_of(notebook), str(notebook.with_name("other.py")), "exec"), other)
        assert str(other["found"]).startswith("other.py:")
    finally:
        places.begin()
