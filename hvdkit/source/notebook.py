"""A notebook as a program that plain Python runs.

Magics are left out: they are IPython's, and a rank is started with python.
"""

from __future__ import annotations

from pathlib import Path

from hvdkit.errors import HvdkitError
from hvdkit.files import read_file
from hvdkit.source.read.notebook import Notebook, blanked
from hvdkit.source.read.source import Source, Unreadable, parse

NOTEBOOK = ".ipynb"  # how the file name of a notebook ends


def magics(notebook: Notebook) -> tuple[tuple[int, str], ...]:
    """(code cell from 1, line) of each magic."""
    return tuple(
        (number, line.strip())
        for number, cell in enumerate(notebook.cells, 1)
        for line, kept in zip(cell.code.splitlines(), blanked(cell.code).splitlines())
        if line != kept
    )


def program_beside(path: Path) -> Path:
    """Where the program of a notebook goes: beside it, under a name that no other script has."""
    plain = path.with_suffix(".py")
    return path.with_name(f"{path.stem}_notebook.py") if plain.exists() else plain


def program_of(path: Path) -> str:
    """The code cells of a notebook as one program. Raises: HvdkitError."""
    return _read(path).text


def cells_of(path: Path, name: str) -> tuple[tuple[int, str], ...]:
    """Where each code cell begins in the program, a line counted from 1, and how reports name the cell.

    name: the notebook's in reports. Raises: HvdkitError.
    """
    source = _read(path)
    cells = source.notebook.cells if source.notebook else ()
    return tuple(
        (source.text.count("\n", 0, cell.start) + 1, f"{name}:cell {number}")
        for number, cell in enumerate(cells, 1)
    )


def _read(path: Path) -> Source:
    try:
        source = parse(path, read_file(path))
    except OSError as error:
        raise HvdkitError(
            f"{path}: {error.strerror or error}", fix="name a notebook that is a file"
        ) from error
    if isinstance(source, Unreadable):
        raise HvdkitError(f"{path}, line {source.line}: {source.reason}", fix="correct the notebook")
    return source


def making(notebook: str, program: str) -> tuple[str, ...]:
    """The command that makes a program of a notebook."""
    return ("python", "-m", "hvdkit.notebook", notebook, program)
