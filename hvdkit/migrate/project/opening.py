"""Opening a project: the files that are given, the scripts that start them, and all that they import."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from hvdkit.files import read_file
from hvdkit.migrate.index.indexing import index
from hvdkit.migrate.index.names import Names
from hvdkit.migrate.project.files import Project, Reader, does_more_than_define
from hvdkit.migrate.project.texts import files_in
from hvdkit.migrate.project.unit_tests import is_unit_test
from hvdkit.migrate.read.source import Unreadable, parse


def open_project(paths: Iterable[Path], reader: Reader = read_file) -> Project:
    """Read the given files, every Python file and notebook under the given folders, and local imports."""
    given = list(paths)
    project = Project(reader, given=tuple(given))
    for path in given:
        if path.is_dir():
            for file in python_files(path):
                if project.is_framework(file):
                    project.passed_over.append(file)
                else:
                    project.load(file, force=False)
        else:
            project.load(path)
    _starters(project)
    project.opened = tuple(project.files)
    _close(project)
    return project


def reopen(project: Project, rewritten: Mapping[Path, Names], reader: Reader) -> Project:
    """The same project with some files rewritten."""
    again = project.renewed(rewritten, reader)
    for path in project.opened:
        again.load(path)
    _close(again)
    return again


def _starters(project: Project) -> None:
    """Load the scripts, no unit tests, that were passed over and import a file that names a framework."""
    known = set(project.files)
    words = re.compile(
        rb"\b(%s)\b" % b"|".join(sorted({re.escape(os.fsencode(path.stem)) for path in known}))
    )
    for path in list(project.passed_over):
        raw = project.content(path)
        source = parse(path, raw) if words.search(raw) and not is_unit_test(raw) else None
        if source is None or isinstance(source, Unreadable):
            continue
        names = index(source)
        if does_more_than_define(names) and any(project.find(name, path) in known for name in names.modules):
            project.files[path] = names
            project.passed_over.remove(path)
            project.forget(path)  # found without the folders that the script puts on sys.path


def python_files(folder: Path) -> Iterator[Path]:
    """Python files and notebooks under a folder, sorted; virtual environments are not source."""
    yield from (file for file in files_in([folder]) if file.name.endswith((".py", ".ipynb")))


def _close(project: Project) -> None:
    """Load what the loaded files import, and what those import in turn."""
    waiting = list(project.files.values())
    seen = set(waiting)
    while waiting:
        for module in project.imports(waiting.pop()):
            if module not in seen:
                seen.add(module)
                waiting.append(module)
