"""The steps of "Your first rule in an hour" in docs/architecture.md, carried out as the page gives them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
PARTS = ("hvdkit", "tests", "scripts", "docs", "pyproject.toml", "hvdkit_check_sync.pth")
FILE = re.compile(r"`([\w/.]+)`:\n\n```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def steps() -> Iterator[tuple[str, list[tuple[str, str]], list[tuple[str, list[str]]]]]:
    """Each step: its title, the files that it writes, and its commands with the lines that they print."""
    _, _, chapter = PAGE.read_text(encoding="utf-8").partition("## Your first rule in an hour\n")
    for step in re.split(r"(?m)^### ", chapter)[1:]:
        yield step.partition("\n")[0], FILE.findall(step), [*commands("".join(CONSOLE.findall(step)))]


def commands(shown: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a terminal, and the lines that follow it."""
    for part in re.split(r"(?m)^\$ ", shown)[1:]:
        command, *lines = part.splitlines()
        yield command, lines


def fresh_clone(folder: Path) -> None:
    """What the steps need of the repository, set up: .venv is the environment of this Python."""
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
        copy(ROOT / part, folder / part)
    environment = folder / ".venv"
    environment.mkdir()
    for entry in Path(sys.prefix).iterdir():
        if entry.name != ".hvdkit-setup":
            (environment / entry.name).symlink_to(entry)
    # As scripts/setup leaves it, so that it installs nothing into the environment.
    stamp = "cat pyproject.toml hvdkit_check_sync.pth scripts/setup | cksum > .venv/.hvdkit-setup"
    subprocess.run(stamp, shell=True, cwd=folder, check=True)


def test_each_step_ends_as_the_page_says(tmp_path: Path) -> None:
    fresh_clone(tmp_path)
    ours = ("HVDKIT_TEST", "PYTEST")  # of the run that this test is part of
    environ = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    done = 0
    for title, files, typed in steps():
        for name, text in files:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text, encoding="utf-8")
        for command, lines in typed:
            ended = subprocess.run(
                command,
                shell=True,
                cwd=tmp_path,
                env=environ,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            place = 0
            for line in lines:
                place = ended.stdout.find(line, place)
                assert place >= 0, f"{title}: {command}\n{ended.stdout}\nshows no {line!r} there"
            failing = any("failed" in line for line in lines)
            found = any("TODO" in line for line in lines)
            assert ended.returncode == (1 if failing or found else 0), f"{title}: {command}\n{ended.stdout}"
        done += bool(files or typed)
    assert done == 6
