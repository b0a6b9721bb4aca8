"""How hvdkit starts Python: without the current folder, where `python -m` and `python -c` search first.

The folder may come from somebody else, and a project's own `json.py` is not Python's. The option -P, which
leaves the folder out, requires Python 3.11. The option -I also leaves out PYTHONPATH and the user's packages.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

# `sys` is built in: no file is opened for it. "" is the folder, and is absent under PYTHONSAFEPATH.
_WITHOUT_FOLDER = "import sys; sys.path[:1] == [''] and sys.path.pop(0)"
_RUN_MODULE = (
    f"{_WITHOUT_FOLDER}; del sys.argv[0]; "
    "import runpy; runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
)


def module(name: str, *arguments: str, python: str = sys.executable) -> list[str]:
    """The command that runs a module as `python -m` does."""
    return [python, "-c", _RUN_MODULE, name, *arguments]


def code(text: str, python: str = sys.executable) -> list[str]:
    """The command that runs some code as `python -c` does."""
    return [python, "-c", f"{_WITHOUT_FOLDER}\n{text}"]


def guard_workers() -> None:
    """Have multiprocessing start the processes of this one as `code` does: it starts them by `python -c`."""
    from multiprocessing import util

    start = util.spawnv_passfds

    def guarded(path: bytes, args: Sequence[Any], passfds: Sequence[int]) -> int:
        option = [*args].index("-c")
        text = f"{_WITHOUT_FOLDER}\n{args[option + 1]}"
        return start(path, [*args[: option + 1], text, *args[option + 2 :]], passfds)

    util.spawnv_passfds = guarded
