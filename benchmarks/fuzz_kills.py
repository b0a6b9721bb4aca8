"""Writes, and undos, that are killed in the middle, for benchmarks/fuzz.py.

Each file is as it was or as it will be, the next --undo restores every byte, and no temporary file is left.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from fuzz_trees import DDP

# Killed at the N-th call of a function of os.
_KILLED = """
import os, signal, sys
from hvdkit.cli import main
calls = 0
def reached(act):
    def counted(*arguments, **options):
        global calls
        calls += 1
        if calls == int(sys.argv[1]):
            os.kill(os.getpid(), signal.SIGKILL)
        return act(*arguments, **options)
    return counted
setattr(os, sys.argv[2], reached(getattr(os, sys.argv[2])))
sys.exit(main(sys.argv[3:]))
"""
WRITE = ("migrate", ".", "--write", "--allow-no-vcs", "--no-diff")
FILES = 30


class Kills:
    """Kills runs in the middle, and looks at every file."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch

    def attack(self, number: int, chance: random.Random) -> None:
        """Kill a write (even numbers) or its undoing (odd ones) at a random point, and take it back."""
        tree, here = self.scratch / "killed", Path.cwd()
        tree.mkdir()
        try:
            os.chdir(tree)
            for each in range(FILES):
                (tree / f"train{each}.py").write_text(DDP)
            if number % 2:
                self._run(WRITE, 0, "fsync", (0, 1))
                after = (tree / "train0.py").read_text()
                self._run(("migrate", "--undo"), *self._point(chance), (-signal.SIGKILL,))
                assert {*self._texts(tree)} <= {DDP, after}, "a file is neither as it was nor as written"
            else:
                self._run(WRITE, *self._point(chance), (-signal.SIGKILL,))
                texts = {*self._texts(tree)} - {DDP}
                assert len(texts) <= 1 and all("hvd.init()" in text for text in texts), texts
            self._run(("migrate", "--undo"), 0, "fsync", (0, 2))
            assert {*self._texts(tree)} == {DDP}, "--undo restores every byte"
            left = [path.name for path in tree.iterdir() if path.suffix != ".py" and path.name != ".hvdkit"]
            assert left == [], f"files are left: {left}"
        finally:
            os.chdir(here)
            shutil.rmtree(tree)

    def _point(self, chance: random.Random) -> tuple[int, str]:
        """A call of the system before which the run is killed: the file is not whole, or not in its place."""
        name = chance.choice(("fsync", "fchmod", "open"))
        return chance.randint(1, 2 * FILES if name == "open" else FILES), name

    def _run(self, command: Sequence[str], call: int, name: str, codes: tuple[int, ...]) -> None:
        started = [sys.executable, "-c", _KILLED, str(call), name, *command]
        done = subprocess.run(started, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        assert done.returncode in codes, f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}"

    def _texts(self, tree: Path) -> Iterator[str]:
        return (path.read_text() for path in tree.glob("*.py"))
