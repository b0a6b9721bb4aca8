"""Which Python runs the scripts: that of the environment that they live in, where it has what they need."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from hvdkit.verify.environments import is_environment

NAMES = (".venv", "venv", ".env", "env")
ASK = "import importlib.util, sys; sys.exit(importlib.util.find_spec('horovod') is None)"


def interpreter_of(script: Path, here: Path, progress: Callable[[str], None]) -> str:
    """The environment is the nearest, from the script's folder up to the current one, else hvdkit's own."""
    for environment in _environments(script.resolve(), here):
        python = environment / "bin" / "python"
        if environment.samefile(sys.prefix):
            break
        if subprocess.run([python, "-I", "-c", ASK], stdin=subprocess.DEVNULL, check=False).returncode == 0:
            return str(python)
        progress(f"{environment} has no Horovod: the scripts are run by {sys.executable}")
        break
    return sys.executable


def _environments(script: Path, here: Path) -> Iterator[Path]:
    """Those that a script may live in, the nearest first: around it, or next to it under a usual name."""
    for folder in script.parents:
        near = (folder, *(folder / name for name in NAMES))
        yield from (each for each in near if is_environment(each) and (each / "bin" / "python").is_file())
        if folder == here:
            return
