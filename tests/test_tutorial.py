"""The tutorial's commands run from an empty folder, and print what the page shows."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "tutorial.md").read_text(encoding="utf-8")
SCRIPT = PAGE.partition("```python\n")[2].partition("```")[0]


def commands() -> list[tuple[str, list[str]]]:
    """Each command of the page, with the lines that it shows of the output."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL):
        first, *shown = block.splitlines()
        found.append((first.removeprefix("$ "), shown))
    return found


def test_the_page_has_its_commands() -> None:
    named = [shlex.split(command)[1] for command, _ in commands()]
    assert named == ["init", "migrate", "migrate", "verify", "run"] and "import torch" in SCRIPT


@pytest.mark.launch
def test_every_command_prints_what_the_page_shows(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT, encoding="utf-8")
    for command, shown in commands():
        words = [sys.executable, "-m", *shlex.split(command)]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=500)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        for line in shown:
            assert line in done.stdout, f"{command}: no {line!r} in {done.stdout}"
