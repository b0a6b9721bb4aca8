"""Opening a project: the files that are given, the scripts that start them, and all that they import."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from hvdkit.files import read_file
from hvdkit.source.index.indexing import index
from hvdkit.source.index.names import Names
from hvdkit.source.project.files import Project, Reader, does_more_than_define
from hvdkit.source.project.texts import files_in
from hvdkit.source.project.unit_tests import is_unit_test
from hvdkit.source.read.source import Unreadable, parse

MAX_LINE = 256  # bytes of a first line that are looked at


def open_project(paths: Iterable[Path], reader: Reader = read_file) -> Project:
    """Read the given files, every Python file and notebook under the given folders, and local imports."""
    given = list(paths)
    project = Project(reader, given=tuple(given))
    for path in given:
        if path.is_dir():
            for file in python_files(path):
                if project.is_framework(file):
                    project.passed_over[file] = None
                else:
                    project.load(file, force=False)
        else:
            project.load(path)
    named = list(project.files)
    _close(project)
    project.opened = (*named, *_starters(project))
    _close(project)
    return project


def reopen(project: Project, rewritten: Mapping[Path, Names], reader: Reader) -> Project:
    """The same project with some files rewritten."""
    again = project.renewed(rewritten, reader)
    for path in project.opened:
        again.load(path)
    _close(again)
    return again


def _starters(project: Project) -> list[Path]:
    """Load the scripts, no unit tests, that were passed over and import the project, also by another file."""
    waiting = [path for path in project.passed_over if path not in project.files]
    reached, starters, between = set(project.files), list[Path](), list[Path]()
    fresh = reached
    while fresh:
        leading = list(_importing(project, waiting, reached, fresh))
        waiting = [path for path in waiting if path not in leading]
        for path in leading:
            (starters if does_more_than_define(project.files[path]) else between).append(path)
        fresh = set(leading)
        reached |= fresh
    for path in between:  # a starter loads what it imports
        del project.files[path]
    for path in starters:
        project.passed_over.pop(path, None)
    return starters


def _importing(project: Project, paths: list[Path], reached: set[Path], fresh: set[Path]) -> Iterator[Path]:
    """Load those of some files that import one of the files that were reached; fresh: the last of these."""
    stems = sorted({re.escape(os.fsencode(_module(path))) for path in fresh})
    words = re.compile(rb"\b(%s)\b" % b"|".join(stems))
    for path in paths:
        raw = project.content(path)
        source = parse(path, raw) if words.search(raw) and not is_unit_test(raw) else None
        if source is None or isinstance(source, Unreadable):
            continue
        project.files[path] = index(source)  # what a script puts on sys.path is looked for in loaded files
        project.forget(path)
        if any(project.find(name, path) in reached for name in project.files[path].modules):
            yield path
        else:
            del project.files[path]


def _module(path: Path) -> str:
    """The last part of the name that a file is imported by."""
    return path.parent.name if path.name == "__init__.py" else path.stem


def python_files(folder: Path) -> Iterator[Path]:
    """Python files and notebooks under a folder, sorted; virtual environments are not source."""
    yield from (file for file in files_in([folder]) if _is_python(file))


def _is_python(file: Path) -> bool:
    """Whether a file is named as Python, or has no suffix and a first line such as `#!/usr/bin/python3`."""
    if file.suffix:
        return file.name.endswith((".py", ".ipynb"))
    if not file.is_file():
        return False  # a pipe would be waited for
    try:
        with file.open("rb") as opened:
            first = opened.readline(MAX_LINE)
    except OSError:
        return False  # no script that this user could start
    return first.startswith(b"#!") and b"python" in first


def _close(project: Project) -> None:
    """Load what the loaded files import, and what those import in turn."""
    waiting = list(project.files.values())
    seen = set(waiting)
    while waiting:
        for module in project.imports(waiting.pop()):
            if module not in seen:
                seen.add(module)
                waiting.append(module)
