"""Notebooks as programs of ranks: `python -m hvdkit.launch.notebook train.ipynb ARGUMENTS` runs the cells.

Every rank reads the notebook itself, so no program of it lies beside it that grows old. Magics are IPython's:
each is named before the start, with what takes its place, and a job whose program would be another one
without them is refused.
"""

from __future__ import annotations

import builtins
import linecache
import re
import sys
import traceback
from codeop import Compile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

from hvdkit import interpreter
from hvdkit.errors import HvdkitError
from hvdkit.files import read_file
from hvdkit.source.notebook import NOTEBOOK, magics, program_of
from hvdkit.source.read.notebook import NotANotebook, Notebook, blanked, parse_notebook

# Display, time or reload: the program computes the same without them.
_HARMLESS = re.compile(
    r"%{1,2}(matplotlib|time|timeit|prun|capture|load_ext|reload_ext|autoreload|config|precision|pylab inline"
    r"|who|whos|tensorboard|html|HTML|javascript|js|svg|latex|markdown|memit|mprun|lprun|xmode|pdb|pprint)\b"
    r"|!\s*(nvidia-smi|ls|pwd|nproc|free|df|date|hostname|lscpu|cat|head|echo|which|ps|du|tree|wc)\b[^|>&;]*$"
    r"|[^%!]*\?{1,2}$|\?{1,2}"
)
_PACKAGES = re.compile(r"(?:[%!]\s*)(?:python3? -m )?(pip3?|conda|mamba|uv pip)\s+install\s+(.+)")
_SET = re.compile(r"%(?:set_)?env\s+(\w+)(?:\s*=\s*|\s+)(.+)")


class MagicsError(HvdkitError):
    """Without its magics the notebook is another program."""


def as_command(command: Sequence[str], say: Callable[[str], None], force: bool) -> list[str]:
    """The command of a rank: a notebook's, where it starts one, else as it is.

    `train.ipynb` and `python train.ipynb` are the same. Raises: MagicsError, unless `force`; HvdkitError.
    """
    place = 1 if len(command) > 1 and Path(command[0]).name.startswith("python") else 0
    if not command[place].endswith(NOTEBOOK):
        return list(command)
    python = command[0] if place else sys.executable
    _refuse_magics(Path(command[place]), say, force)
    return interpreter.module("hvdkit.launch.notebook", *command[place:], python=python)


def _refuse_magics(path: Path, say: Callable[[str], None], force: bool) -> None:
    program_of(path)  # it is Python
    needed = []
    for cell, line in magics(_parsed(path)):
        place = f"{path}, cell {cell}: {line}"
        packages, variable = _PACKAGES.match(line), _SET.match(line)
        if packages:
            say(f"{place}: left out; on every host: {packages[1]} install {packages[2]}")
        elif variable:
            needed.append(f"{place}: -x {variable[1]}={variable[2]} gives it to every rank")
        elif not _HARMLESS.match(line):
            needed.append(f"{place}: write it in Python")
    if needed and not force:
        raise MagicsError(
            "what IPython runs is no part of the program:\n  " + "\n  ".join(needed),
            why="a rank is started with python, and would train something else without it",
            fix="take each of these lines out, as it says, or hvdkit run --force",
        )


def _parsed(path: Path) -> Notebook:
    """Raises: HvdkitError."""
    try:
        return parse_notebook(read_file(path).decode("utf-8"))
    except (NotANotebook, UnicodeDecodeError) as error:
        raise HvdkitError(f"{path}: {error}", fix="correct the notebook") from None


def main(arguments: Sequence[str]) -> None:
    """Run the notebook arguments[0] as the main module, with the rest as its arguments."""
    path = Path(arguments[0])
    cells = _parsed(path).cells
    # As in a notebook: it has no file that a worker could import, and `display` shows a value.
    module = ModuleType("__main__")
    module.__dict__.update(__builtins__=builtins, display=print)
    sys.modules["__main__"] = module
    sys.argv = list(arguments)
    sys.path.insert(0, str(path.resolve().parent))
    sys.excepthook = traceback.print_exception  # unlike the interpreter's own, it knows the cells' lines
    compiled = Compile()  # what `from __future__` says holds in the cells below, too
    for number, cell in enumerate(cells, 1):
        name, code = f"{path}, cell {number}", blanked(cell.code)
        linecache.cache[name] = (len(code), None, cell.code.splitlines(keepends=True), name)
        exec(compiled(code, name, "exec"), module.__dict__)


if __name__ == "__main__":
    main(sys.argv[1:])
