"""The files of a project and the imports between them.

A file is parsed only when it can matter: when its bytes name a framework, or when such a file imports it, or
when it imports such a file: a `main.py` that only starts what others hold. Under a folder unit tests are
passed over: they train nothing, and pytest starts no ranks for them.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Callable

from hvdkit.dataclass import dataclass
from hvdkit.files import read_file
from hvdkit.source.index.import_texts import HOLE, module_text
from hvdkit.source.index.indexing import index
from hvdkit.source.index.names import Names
from hvdkit.source.project.folders import INSTALLED, Folders
from hvdkit.source.project.python_path import ByLastName, binds, fits, python_path, taken_from
from hvdkit.source.project.texts import files_in, files_of
from hvdkit.source.project.unit_tests import is_plain_test, is_unit_test
from hvdkit.source.read.source import Unreadable, parse

FRAMEWORKS = re.compile(rb"torch|tensorflow|keras|horovod|hvdkit|\bapex\b")
LAUNCHER = re.compile(rb"torchrun|torch\.distributed\.(?:launch|run)\b")  # its command lines are told
BY_TEXT = re.compile(  # a framework that a text imports or starts
    rb"import(?:_module|__)\(\s*['\"](?:torch|tensorflow|keras|horovod)|%b" % LAUNCHER.pattern
)
STANDARD: frozenset[str] = getattr(sys, "stdlib_module_names", frozenset())  # of Python itself, from 3.10 on
Reader = Callable[[Path], bytes]


@dataclass(eq=False)
class Project:
    """Parsed files by path; `load` brings in an imported one when it is first asked for."""

    reader: Reader = read_file
    files: dict[Path, Names] = field(default_factory=dict)
    unreadable: dict[Path, Unreadable] = field(default_factory=dict)
    passed_over: dict[Path, None] = field(default_factory=dict)  # files that name no framework, each once
    tests: list[Path] = field(default_factory=list)  # unit tests under a folder
    known: Mapping[Path, Names] = field(default_factory=dict)  # files that need not be read
    given: tuple[Path, ...] = ()  # the files and folders that were named
    opened: tuple[Path, ...] = ()  # the files that are there by themselves: others are imported
    folders: Folders = field(default_factory=Folders)
    records: dict[tuple[object, ...], object] = field(default_factory=dict)  # of programs' runs
    unsettled: dict[tuple[Path, str], tuple[Path, ...]] = field(default_factory=dict)  # importer, module
    _found: dict[Path, dict[str, Path | None]] = field(default_factory=dict)  # by importer
    _imports: dict[Names, list[Names]] = field(default_factory=dict)
    _asked_for: dict[ast.Call, list[Names]] = field(default_factory=dict)
    _paths: dict[Path, list[Path]] = field(default_factory=dict)
    _by_last: ByLastName = field(default_factory=ByLastName)
    _checkouts: dict[str, Path | None] = field(default_factory=dict)  # by the name that its files import
    _installs: dict[str, Path | None] = field(default_factory=dict)  # by the package that lies there
    _around_files: tuple[int, list[Path]] = (0, [])  # how many files there were, and their folders
    _above_files: tuple[int, list[Path]] = (0, [])  # the same, with every folder around them
    _on_path: dict[tuple[Path, ...], list[Path]] = field(default_factory=dict)  # by what was given
    _taken: dict[tuple[str, str], bool] = field(default_factory=dict)  # by the names of file and member

    def renewed(self, rewritten: Mapping[Path, Names], reader: Reader) -> Project:
        """The same project, still to be loaded: what was looked up stays, for no edit touches sys.path."""
        return Project(
            reader,
            unreadable=dict(self.unreadable),
            passed_over=dict(self.passed_over),
            tests=list(self.tests),
            known={**self.files, **rewritten},
            given=self.given,
            opened=self.opened,
            folders=self.folders,
            records=self.records,
            unsettled=self.unsettled,
            _found=self._found,
            _paths=self._paths,
            _checkouts=self._checkouts,
            _installs=self._installs,
            _on_path=self._on_path,
        )

    def load(self, path: Path, force: bool = True) -> Names | None:
        """Parse a file once. Without `force` unit tests and files that name no framework are passed over."""
        if path in self.files:
            return self.files[path]
        if path in self.unreadable:
            return None
        if path in self.known:
            names = self.files[path] = self.known[path]
            return names
        try:
            raw = self.reader(path)
        except OSError as error:
            self.unreadable[path] = Unreadable(path, f"cannot be read: {error.strerror or error}")
            return None
        if not force and not FRAMEWORKS.search(raw):
            self.passed_over[path] = None
            return None
        if not force and is_unit_test(raw):
            self.tests.append(path)
            return None
        source = parse(path, raw)
        if isinstance(source, Unreadable):
            self.unreadable[path] = source
            return None
        names = index(source)
        plain_test = is_plain_test(path.name, raw) and not LAUNCHER.search(raw)
        if not force and plain_test and not does_more_than_define(names):
            self.tests.append(path)
            return None
        self.files[path] = names
        return names

    def content(self, path: Path) -> bytes:
        """The bytes of a file that need not be parsed; none where it cannot be read."""
        try:
            return self.reader(path)
        except OSError:
            return b""

    @cached_property
    def uses_framework(self) -> bool:
        """Whether any file imports a framework or starts its programs; else no rule has anything to say."""
        return any(
            FRAMEWORKS.search(" ".join(names.modules).encode()) or BY_TEXT.search(names.source.text.encode())
            for names in self.files.values()
        )

    def mentions(self, *words: str) -> bool:
        """Whether any file has one of these words in its text."""
        return any(word in names.source.text for names in self.files.values() for word in words)

    def taken_where_passed_over(self, path: Path, name: str) -> bool:
        """Whether a file that was passed over may import a name of a file: it has both of them, or a star."""
        if (path.stem, name) not in self._taken:
            module = re.compile(rb"\b%b\b" % re.escape(os.fsencode(path.stem)))
            taken = re.compile(rb"\b%b\b|import\s*\*" % re.escape(name.encode()))
            texts = (self.content(other) for other in (*self.passed_over, *self.tests))
            self._taken[path.stem, name] = any(module.search(text) and taken.search(text) for text in texts)
        return self._taken[path.stem, name]

    def module(self, name: str, importer: Path) -> Names | None:
        """The project file that `import name` (dots in front for relative) means in `importer`, if any."""
        path = self.find(name, importer)
        return self.load(path) if path else None

    def imports(self, names: Names) -> list[Names]:
        """The project's own files that a file imports directly."""
        if names not in self._imports:
            modules = [self.module(name, names.source.path) for name in sorted(names.modules)]
            for call in names.calls.get("import_module", ()):
                modules += self.asked_for(names, call)
            self._imports[names] = [m for m in dict.fromkeys(modules) if m is not None and m is not names]
        return self._imports[names]

    def asked_for(self, names: Names, call: ast.Call) -> list[Names]:
        """The project files that an import_module() means: all that fit a name that is chosen as it runs."""
        if call not in self._asked_for:
            asked = module_text(names, call)
            if HOLE in asked:
                found = [self.load(path, force=False) for path in self._chosen(names, call)]
            else:
                found = [self.module(asked, names.source.path)] if asked.strip(".") else []
            self._asked_for[call] = [module for module in found if module is not None]
        return self._asked_for[call]

    def _chosen(self, names: Names, call: ast.Call) -> list[Path]:
        """The files that `import_module("models." + name + "_model")` may mean: a name chosen as it runs."""
        first, *below = module_text(names, call).lstrip(".").split(".")
        if not first or HOLE in first or not any(HOLE in part for part in below):
            return []
        fits = [re.compile(r"[\w-]+".join(map(re.escape, part.split(HOLE)))) for part in below]
        for around in self.folders.around(names.source.path.parent):
            if found := self.folders.matching(around / first, fits):
                return found
        return []

    def find(self, name: str, importer: Path) -> Path | None:
        """Path of a module: relative to the importer, beside it or a package around it, else on its path."""
        found = self._found.setdefault(importer, {})
        if name not in found:
            found[name] = self._find(name, importer)
        return found[name]

    def forget(self, importer: Path) -> None:
        """Look again for what a file imports."""
        self._found.pop(importer, None)

    def _find(self, name: str, importer: Path) -> Path | None:
        stripped = name.lstrip(".")
        level = len(name) - len(stripped)
        folder = importer.parent
        if level:
            for _ in range(level - 1):
                folder = folder.parent
            return self.folders.module(folder, stripped)
        top = stripped.partition(".")[0]
        framework = FRAMEWORKS.fullmatch(top.encode()) is not None
        for around in self.folders.around(folder):
            if framework and "__init__.py" in self.folders.entries(around):
                continue  # `import torch` in a package of the project that has a part of that name
            found = self.folders.module(around, stripped)
            # A file named like a library (torch.py) beside the importer is what Python would take, too.
            if found is not None and found != importer:
                if around == folder:
                    return found
                if self._has_any(found, stripped, importer):
                    return self._settled({found, *self._set_by_texts(stripped, importer)}, stripped, importer)
        if framework:
            return None  # the examples in a framework's own checkout use it as a library
        # `import evaluation.linear.utils` in evaluation/linear: run from the folder that holds evaluation.
        above = importer.parents if top in importer.parts else ()
        holds = (parent.parent for parent in above if parent.name == top)
        if importer in self.files and importer not in self._paths:
            self._paths[importer] = list(self._path(importer))
        folders = (*holds, *self._paths.get(importer, ()))
        elsewhere = (self.folders.module(folder, stripped) for folder in folders)
        found = next((found for found in elsewhere if found not in (None, importer)), None)
        if found is None and not any(
            top in self.folders.importable(part) for part in (*self.folders.around(folder), *folders)
        ):
            found = self._of_checkout(top, stripped.partition(".")[2], importer)
        return found or self._installed(stripped) or self._by_python_path(stripped, importer)

    def _by_python_path(self, name: str, importer: Path) -> Path | None:
        """A module that is found by PYTHONPATH: as texts beside the program set it, else what alone fits."""
        if name.partition(".")[0] in STANDARD:
            return None
        groups = self.files, self.passed_over, self.tests, self.known
        every = self._by_last.of(name, *groups) - {importer}
        return self._settled(
            self._set_by_texts(name, importer)
            or {path for path in fits(every, name) if self._defines(path, name, importer)},
            name,
            importer,
        )

    def _settled(self, found: set[Path], name: str, importer: Path) -> Path | None:
        """The file, where there is one; several that may be meant are kept as unsettled."""
        if len(found) > 1:
            self.unsettled[importer, name] = tuple(sorted(found))
        return found.pop() if len(found) == 1 else None

    def _set_by_texts(self, name: str, importer: Path) -> set[Path]:
        """The files of a module in folders that texts put on PYTHONPATH."""
        found = {self.folders.module(folder, name) for folder in self._python_path} - {None, importer}
        return {path for path in found if path is not None and self._has_any(path, name, importer)}

    @property
    def _python_path(self) -> list[Path]:
        """The folders that texts put on PYTHONPATH: in what was given, beside it and in the folder above."""
        if self.given in self._on_path:
            return self._on_path[self.given]
        found: list[Path] = []
        for given in self.given:
            if given.is_dir():
                found += python_path(files_in([given]), self.content, given)
            near = self.folders.around(given if given.is_dir() else given.parent)[:2]
            found += python_path((file for each in near for file in files_of(each)), self.content, near[-1])
        self._on_path[self.given] = list(dict.fromkeys(found))
        return self._on_path[self.given]

    def _defines(self, path: Path, name: str, importer: Path) -> bool:
        """Whether a file has all that another takes from a module; what takes nothing may mean a library."""
        taken = taken_from(self.files[importer], name) if importer in self.files else set()
        below = self.folders.importable(path.parent) if path.name == "__init__.py" else set()
        return bool(taken) and binds(path, self.content(path), taken - below)

    def _of_checkout(self, top: str, rest: str, importer: Path) -> Path | None:
        """`import mae.util.misc`, where the folder that has to be mae is checked out under another name.

        Two files at least have to be there for what the project imports from it, and nothing may be missing:
        `timm.utils` is no utils.py of the project.
        """
        if not rest or importer not in self.files:
            return None
        if top not in self._checkouts:
            wanted = {name for names in self.files.values() for name in names.modules}
            inside = sorted(name.partition(".")[2] for name in wanted if name.startswith(f"{top}."))
            above = [folder for folder in importer.parents if folder in self._inside()]
            self._checkouts[top] = None
            for folder in above:
                packages = {name for name in inside if folder.joinpath(*name.split(".")).is_dir()}
                files = [self._holding(folder, name) for name in inside if name not in packages]
                if None not in files and len(set(files)) > 1:
                    self._checkouts[top] = folder
        checkout = self._checkouts[top]
        return self.folders.module(checkout, rest) if checkout is not None else None

    def _installed(self, name: str) -> Path | None:
        """A module of a package that is installed from a folder of the checkout: `pip install ./parts`."""
        top = name.partition(".")[0]
        if top not in self._installs:
            if self._above_files[0] != len(self.files):
                above = {folder for path in self.files for folder in list(path.parents)[:-1]}
                self._above_files = len(self.files), sorted(above)
            holding = (f for f in self._above_files[1] if self._installs_package(f, top))
            self._installs[top] = next(holding, None)
        folder = self._installs[top]
        return self.folders.module(folder, name) if folder is not None else None

    def _inside(self) -> list[Path]:
        """The folders with the project's files, and those around them up to the one that holds all."""
        if self._around_files[0] != len(self.files):
            root = Path(os.path.commonpath([os.path.abspath(path.parent) for path in self.files]))
            every = {folder for path in self.files for folder in path.parents}
            inside = [folder for folder in every if Path(os.path.abspath(folder)).is_relative_to(root)]
            self._around_files = len(self.files), sorted(inside)
        return self._around_files[1]

    def _installs_package(self, folder: Path, package: str) -> bool:
        """Whether a folder holds a package, and the setup.py, or pyproject.toml, that names it."""
        if package not in self.folders.importable(folder):
            return False
        named = re.compile(rb"\bname\s*=\s*[\"']%b[\"']" % re.escape(package.encode()))
        texts = sorted({"setup.py", "pyproject.toml"} & self.folders.entries(folder))
        return any(named.search(self.content(folder / text)) for text in texts)

    def is_framework(self, path: Path) -> bool:
        """Whether a file is a part of a framework's own package, installed or a checkout: no program."""
        package = path.parent
        if "__init__.py" not in self.folders.entries(package):
            return False
        while package.parent != package and "__init__.py" in self.folders.entries(package.parent):
            package = package.parent
        if not FRAMEWORKS.fullmatch(os.fsencode(package.name)):
            return False
        return package.parent.name in INSTALLED or self._installs_package(package.parent, package.name)

    def _has_any(self, path: Path, name: str, importer: Path) -> bool:
        """Whether a file above the importer may be what it imports: it has one of the names taken from it.

        `from datasets import build`, whose own datasets.py is not in the checkout, is no datasets.py above.
        """
        imports = self.files[importer].imports if importer in self.files else []
        taken = [binding.qualified.rpartition(".") for _, binding in imports]
        members = {member for module, _, member in taken if module == name}
        below = self.folders.importable(path.parent) if path.name == "__init__.py" else set()
        if not members or members & below:
            return True
        text = self.content(path)
        return b"import *" in text or any(re.search(rb"\b%b\b" % m.encode(), text) for m in members)

    def _holding(self, folder: Path, name: str) -> Path | None:
        """The file of a module below a folder, or of the module that names the last part."""
        path = self.folders.module(folder, name)
        module, _, member = name.rpartition(".")
        if path is None and module:
            path = self.folders.module(folder, module)
            if path is not None and re.search(rb"\b%b\b" % member.encode(), self.content(path)):
                return path
            return None
        return path

    def _path(self, importer: Path) -> Iterator[Path]:
        """Folders that a file puts on sys.path by a text, and the folder of the project's own packages."""
        for file in (importer, *self._beside(self.files[importer])):
            yield from self._added(file)
        for folder in importer.parents:
            held = self.folders.entries(folder)
            if {"setup.py", "pyproject.toml"} & held:
                yield folder
            if folder.name in INSTALLED or {"setup.py", "pyproject.toml", ".git"} & held:
                return

    def _beside(self, names: Names) -> Iterator[Path]:
        """What a file imports from its own folder: `import _init_paths` may be there for the path alone."""
        for name in sorted(names.modules):
            path = self.folders.module(names.source.path.parent, name)
            if path not in (None, names.source.path):
                yield path

    def _added(self, path: Path) -> Iterator[Path]:
        """Folders that a file names, if it puts anything on sys.path: `join(here, "..", "lib")`."""
        names = self.load(path)
        if names is None or "sys.path." not in names.source.text:
            return
        added = [*names.calls.get("append", ()), *names.calls.get("insert", ())]
        added = [call for call in added if ast.unparse(call.func).startswith("sys.path.")]
        for call in (*added, *names.calls.get("join", ())):
            texts = [node.value for node in ast.walk(call) if isinstance(node, ast.Constant)]
            inside = [text for text in texts if isinstance(text, str)]
            folder = Path(os.path.normpath(path.parent.joinpath(*inside)))
            if folder.is_dir():
                yield folder


def does_more_than_define(names: Names) -> bool:
    """Whether a file does more than import, define and assign."""
    return any(
        isinstance(statement, (ast.If, ast.For, ast.While, ast.With))
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call))
        for statement in names.source.tree.body
    )
