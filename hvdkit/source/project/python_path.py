"""Folders that scripts, Dockerfiles and the like beside the sources put on PYTHONPATH.

What a variable in such a value holds is not known, nor where the commands are run: `$PWD/lib`, `/app/lib` and
`lib` are all taken for the nearest folder `lib`, from the text upwards.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path

from hvdkit.source.index.indexing import index
from hvdkit.source.index.names import Names
from hvdkit.source.read.source import Unreadable, parse

MAX_BYTES = 1_000_000
SUFFIXES = (
    *(".sh", ".bash", ".zsh", ".csh", ".fish", ".bat", ".cmd", ".ps1", ".sbatch", ".slurm", ".pbs"),
    *(".mk", ".md", ".rst", ".env", ".yml", ".yaml", ".toml", ".ini", ".cfg", ".py", ".ipynb"),
)
NAMES = re.compile(
    r"(?:GNU)?[Mm]akefile|Dockerfile.*|Containerfile|Procfile|[Jj]ustfile|\.env.*|README|launch\.json"
)
SET = re.compile(r"""PYTHONPATH["'\]]*(?:\s*[=:,]\s*|[ \t]+)f?["']?([^\s"'&|#,)]+)""")
INHERITED = "$PYTHONPATH"
VARIABLE = re.compile(r"\$\{\{.*?\}\}|\$\{[^}]*\}|\$\([^)]*\)|`[^`]*`|\$\w+|%\w+%|\{[\w.]+\}")


def may_set(file: Path) -> bool:
    """Whether a file may set PYTHONPATH, by its name."""
    return file.suffix in SUFFIXES or NAMES.fullmatch(file.name) is not None


def python_path(files: Iterable[Path], read: Callable[[Path], bytes], top: Path) -> Iterator[Path]:
    """The folders, from the text of each file up to top, that these files put on PYTHONPATH."""
    for file in files:
        raw = read(file) if may_set(file) and file.is_file() and file.stat().st_size < MAX_BYTES else b""
        if b"PYTHONPATH" in raw:
            for entry in _entries(raw.decode("utf-8", "replace")):
                yield from _folder(entry, file.parent, top)


def _entries(text: str) -> Iterator[str]:
    """What is put on the path, without what was there: variables are `$`."""
    known = VARIABLE.sub(lambda found: INHERITED if "PYTHONPATH" in found[0] else "$", text)
    for found in SET.finditer(known):
        yield from filter(None, re.split(rf"[:;]|{re.escape(INHERITED)}", found[1]))


def _folder(entry: str, beside: Path, top: Path) -> Iterator[Path]:
    """The next folder that an entry of the path may mean: without what stands in front of it elsewhere."""
    parts = [part for part in re.split(r"[/\\]", entry) if part not in ("", ".", "$", "~")]
    above = [beside, *(folder for folder in beside.parents if folder.is_relative_to(top))]
    ways = [parts[start:] for start in range(len(parts))] if parts else [[]]
    for way in ways:
        for around in above:
            folder = Path(os.path.normpath(around.joinpath(*way)))
            if folder.is_dir():
                yield folder
                return


class ByLastName:
    """Files by the last part of the name that they are imported by, filed again once there are others."""

    def __init__(self) -> None:
        self._sizes: tuple[int, ...] = ()
        self._files: dict[str, set[Path]] = {}

    def of(self, name: str, *groups: Collection[Path]) -> set[Path]:
        """The files of some groups that a dotted name may mean by its last part."""
        sizes = tuple(map(len, groups))
        if sizes != self._sizes:
            self._sizes, self._files = sizes, {}
            for path in chain(*groups):
                last = path.parent.name if path.name == "__init__.py" else path.stem
                self._files.setdefault(last, set()).add(path)
        return self._files.get(name.rpartition(".")[2], set())


def fits(paths: Iterable[Path], name: str) -> Iterator[Path]:
    """The files that some folder on the path would make the module of a dotted name."""
    parts = tuple(name.split("."))
    for path in paths:
        module = path.parent.parts if path.name == "__init__.py" else (*path.parent.parts, path.stem)
        if path.suffix == ".py" and module[-len(parts) :] == parts:
            yield path


def taken_from(names: Names, module: str) -> set[str]:
    """What a file takes from a module: `from solver import Solver`, `solver.Solver`."""
    taken: set[str] = set()
    for bound, binding in names.imports:
        head, _, member = binding.qualified.rpartition(".")
        if head == module:
            taken.add(member)
        elif binding.qualified == module:
            parents = (names.parents[use] for use in names.uses.get(bound, ()))
            taken |= {parent.attr for parent in parents if isinstance(parent, ast.Attribute)}
    return taken


def binds(path: Path, raw: bytes, members: set[str]) -> bool:
    """Whether a file has all of these names, or imports what it has with a star."""
    source = parse(path, raw)
    if isinstance(source, Unreadable):
        return False
    names = index(source)
    return bool(names.stars) or members <= set(names.module.names)
