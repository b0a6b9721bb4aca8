"""How hvdkit starts Python: modules of the current folder are not found, those that the user names are."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import hvdkit
from hvdkit import interpreter
from tests.test_wheel import interpreters

PYTHONS = {
    version: python for version, python in interpreters().items() if version in ("3.9", "3.10", "3.13")
}
SHADOWS = ("sys", "runpy", "importlib", "json", "types", "os", "mine")
SAID = "import json, mine, sys; print(mine.PLACE, *sys.argv[1:], '' in sys.path)"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, full of modules that must not run, beside one that PYTHONPATH names."""
    named, current = tmp_path / "named", tmp_path / "current"
    for place in (named, current):
        place.mkdir()
        (place / "mine.py").write_text(f"PLACE = {place.name!r}\n")
    (named / "said.py").write_text(SAID)
    for name in SHADOWS:
        (current / f"{name}.py").write_text(f"raise SystemExit('{name} of the folder was run')\n")
    monkeypatch.chdir(current)
    monkeypatch.setenv("PYTHONPATH", str(named))
    return current


@pytest.mark.parametrize("safe", ["", "1"])
@pytest.mark.parametrize("version", PYTHONS)
def test_the_folder_is_not_searched(
    folder: Path, version: str, safe: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PYTHONSAFEPATH leaves the folder out: then nothing may be taken off the path."""
    monkeypatch.setenv("PYTHONSAFEPATH", safe)
    python = PYTHONS[version]
    for command in (
        interpreter.module("said", "an argument", python=python),
        [*interpreter.code(SAID, python), "an argument"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.stdout, done.returncode) == ("named an argument False\n", 0), done.stderr


WORKERS = """\
from hvdkit.interpreter import guard_workers
guard_workers()
import multiprocessing
for kind in ("spawn", "forkserver"):
    context = multiprocessing.get_context(kind)
    worker = context.Process(target=print, args=(kind, "ran"))
    worker.start()
    worker.join()
"""


@pytest.mark.parametrize("version", PYTHONS)
def test_processes_of_multiprocessing_do_not_search_it(
    folder: Path, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They, and the one that watches what they share, are started by `python -c`."""
    (folder / "multiprocessing.py").write_text("raise SystemExit('multiprocessing of the folder was run')\n")
    monkeypatch.setenv("PYTHONPATH", str(Path(hvdkit.__file__).parents[1]))
    command = interpreter.code(WORKERS, PYTHONS[version])
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("spawn ran\nforkserver ran\n", "")


def started(tree: ast.AST) -> Iterator[ast.expr]:
    """Commands that start Python with -m or -c."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.List, ast.Tuple)) and len(node.elts) > 1:
            program, option = map(ast.unparse, node.elts[:2])
            if program in ("sys.executable", "python") and option in ("'-m'", "'-c'"):
                yield node


def test_hvdkit_starts_python_here_alone() -> None:
    """A list of its own would have the folder on the path again."""
    root = Path(hvdkit.__file__).parent
    trees = {path.relative_to(root): ast.parse(path.read_text("utf-8")) for path in root.rglob("*.py")}
    found = {str(path) for path, tree in trees.items() if any(started(tree))}
    assert found == {"interpreter.py"}
