"""Make a fork what `python SCRIPT ARGUMENT...` or `python -m MODULE ARGUMENT...` would have been."""

from __future__ import annotations

import os
import random
import runpy
import sys
import tempfile
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any


def become(arguments: list[str], forked: frozenset[str], folders: list[str]) -> None:
    """Run it. Raises SystemExit, as the program does or after its traceback is printed.

    arguments: Python's. forked: the modules that are imported already. folders: where imports are looked for
    after the program's own. A program with a module of the same name as one of `forked` gets a new Python.
    So does a folder, whose `__main__.py` Python runs.
    """
    named = arguments[0] == "-m"
    own = Path.cwd() if named else Path(arguments[0]).resolve().parent
    if _hides(own, forked) or Path(arguments[0]).is_dir():
        os.execv(sys.executable, [sys.executable, *arguments])
    sys.argv = arguments[1:] if named else arguments
    sys.orig_argv = [sys.executable, *arguments]  # novm: there only from 3.10 on
    sys.path[:] = [str(own), *folders]
    _draw_anew()
    tempfile.tempdir = None  # asked of the variables again, which are the program's by now
    from hvdkit.verify.hook.install import install

    install()
    if named:
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        _run(arguments[0])


def _hides(folder: Path, forked: frozenset[str]) -> bool:
    """Whether a folder has a module that Python would find before one that is imported."""
    return any(entry.name.partition(".")[0] in forked for entry in folder.iterdir())


def _draw_anew() -> None:
    """Random states that Python and NumPy draw from the system as they start."""
    random.seed()
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed()


def _run(script: str) -> None:
    program = ModuleType("__main__")
    program.__dict__.update(__file__=script, __loader__=SourceFileLoader("__main__", script), __spec__=None)
    program.__dict__.update(__builtins__=sys.modules["builtins"], __annotations__={})
    sys.modules["__main__"] = program
    try:
        exec(compile(Path(script).read_bytes(), script, "exec"), program.__dict__)
    except Exception as error:
        # As Python prints it, without the frame that is ours.
        own = error.with_traceback(error.__traceback__.tb_next if error.__traceback__ else None)
        sys.excepthook(type(own), own, own.__traceback__)
        raise SystemExit(1) from None
