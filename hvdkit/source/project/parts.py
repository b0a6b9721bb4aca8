"""The parts of a project that know nothing of each other: no import leads from one to another, and no text.

Each is migrated by itself: the cost of a project is that of its parts, however many names they share.
"""

from __future__ import annotations

import ast
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Callable

from hvdkit.source.index.names import Names
from hvdkit.source.project.files import Project, does_more_than_define

MODULE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
SCRIPT = re.compile(r"[^\s'\"=]+\.py\b")


def parts(project: Project) -> Iterator[Project]:
    """The project in parts, each a project of its own, in the order of their first files."""
    beside: dict[Path, set[Path]] = defaultdict(set)
    for path, other in _links(project):
        beside[path].add(other)
        beside[other].add(path)
    seen: set[Path] = set()
    for path in sorted(project.files):
        if path in seen:
            continue
        found, waiting = {path}, [path]
        while waiting:
            others = beside[waiting.pop()] - found
            found |= others
            waiting += others
        seen |= found
        yield _part(project, found)


def _part(project: Project, files: set[Path]) -> Project:
    """The project with some of its files alone; what was looked up in the whole of it stays."""
    part = project.renewed({}, project.reader)
    part.files = {path: project.files[path] for path in sorted(files)}
    part.opened = tuple(path for path in project.opened if path in files)
    return part


def _links(project: Project) -> Iterator[tuple[Path, Path]]:
    """Each file with those that it imports, or may import, or that a text in it names."""
    by_stem: dict[str, list[Path]] = defaultdict(list)
    for path in project.files:
        by_stem[path.parent.name if path.name == "__init__.py" else path.stem].append(path)
    for names in list(project.files.values()):
        here = names.source.path
        yield from ((here, module.source.path) for module in project.imports(names))
        for path in _named(project, names, by_stem):
            if path != here and path in project.files:
                yield here, path
    for (importer, _), several in project.unsettled.items():
        together = [path for path in (importer, *several) if path in project.files]
        yield from zip(together, together[1:])
    imported = {module for names in project.files.values() for module in project.imports(names)}
    # One may make it by its name; it may read what one writes.
    yield from _around(
        project,
        lambda names: names not in imported and not does_more_than_define(names),
        does_more_than_define,
    )
    yield from _around(project, lambda names: _calls(names, "load"), lambda names: _calls(names, "save"))


def _around(
    project: Project, asks: Callable[[Names], bool], answers: Callable[[Names], bool]
) -> Iterator[tuple[Path, Path]]:
    """Each file that asks with those that answer: all below the nearest folder around it that holds any."""
    below: dict[Path, list[Path]] = defaultdict(list)
    asking: dict[Path, list[Path]] = defaultdict(list)
    for path, names in project.files.items():
        if answers(names):
            for folder in path.parents:
                below[folder].append(path)
    for path, names in project.files.items():
        if asks(names):
            asking[next((folder for folder in path.parents if folder in below), path)].append(path)
    for folder, paths in asking.items():
        together = [*paths, *below.get(folder, ())]
        yield from zip(together, together[1:])


def _calls(names: Names, word: str) -> bool:
    """Whether a file calls something whose name begins so."""
    return any(called.startswith(word) for called in names.calls)


def _named(project: Project, names: Names, by_stem: dict[str, list[Path]]) -> Iterator[Path]:
    """What texts of a file name: `models.net.Net` for a configuration, `python train.py` for a command."""
    here = names.source.path
    for text in dict.fromkeys(c.value for c in names.of_kind(ast.Constant) if isinstance(c.value, str)):
        for script in SCRIPT.findall(text):
            yield Path(os.path.normpath(here.parent / script))
        module = text if MODULE.fullmatch(text) else ""
        while module:
            if module.rpartition(".")[2] in by_stem:
                found = project.find(module, here)
                if found is not None:
                    yield found
            module = module.rpartition(".")[0]
