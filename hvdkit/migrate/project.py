"""The files of a project and the imports between them.

A file is parsed only when it can matter: when its bytes name a framework, or when such a file imports it, or
when it imports such a file: a `main.py` that only starts what others hold. Under a folder unit tests are
passed over: they train nothing, and pytest starts no ranks for them.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from hvdkit.migrate.names import Names, index
from hvdkit.migrate.source import Unreadable, parse

FRAMEWORKS = re.compile(rb"torch|tensorflow|keras|horovod|hvdkit|\bapex\b")
UNIT_TEST = re.compile(
    rb"^(?:import|from)[ ]+(?:pytest|unittest)\b.*?^[ \t]*(?:async[ ]+)?(?:def|class)[ ]+[Tt]est", re.M | re.S
)
NOT_SOURCE = {
    ".git",
    ".ipynb_checkpoints",
    ".hg",
    ".svn",
    ".venv",
    "venv",
    "node_modules",
    "__pycache__",
    ".tox",
    ".nox",
    ".hvdkit",
}

INSTALLED = ("site-packages", "dist-packages")  # what lies here together is not one project

_HOLE = "\0"

Reader = Callable[[Path], bytes]


class Folders:
    """What lies in the folders, looked up once: most imports are of libraries, and found nowhere."""

    def __init__(self) -> None:
        self._listed: dict[Path, set[str]] = {}
        self._importable: dict[Path, set[str]] = {}
        self._around: dict[Path, list[Path]] = {}
        self._modules: dict[tuple[Path, str], Path | None] = {}

    def entries(self, folder: Path) -> set[str]:
        """The names in a folder; none where there is no such folder."""
        if folder not in self._listed:
            self._listed[folder] = {entry.name for entry in os.scandir(folder)} if folder.is_dir() else set()
        return self._listed[folder]

    def around(self, folder: Path) -> list[Path]:
        """A folder, the one around it, and those around that as long as they are packages."""
        if folder not in self._around:
            found = self._around[folder] = [folder]
            while found[-1].parent != found[-1] and found[-1].parent.name not in INSTALLED:
                if len(found) > 1 and "__init__.py" not in self.entries(found[-1]):
                    break
                found.append(found[-1].parent)
        return self._around[folder]

    def importable(self, folder: Path) -> set[str]:
        """The names of the modules in a folder, and of the folders in it."""
        if folder not in self._importable:
            self._importable[folder] = {entry.removesuffix(".py") for entry in self.entries(folder)}
        return self._importable[folder]

    def module(self, folder: Path, name: str) -> Path | None:
        """The file of a module, by its dotted name; without a name, the folder's own __init__.py."""
        if name and name.partition(".")[0] not in self.importable(folder):
            return None
        if (folder, name) not in self._modules:
            self._modules[folder, name] = self._module(folder, name.split(".") if name else [])
        return self._modules[folder, name]

    def matching(self, folder: Path, below: Sequence[re.Pattern[str]]) -> list[Path]:
        """The files of the modules whose names below a folder match, in their order."""
        entries = sorted(self.entries(folder)) if below else []
        if len(below) > 1:
            inside = [folder / entry for entry in entries if below[0].fullmatch(entry)]
            return [path for each in inside for path in self.matching(each, below[1:])]
        return [
            folder / entry
            for entry in entries
            if entry.endswith(".py") and below[0].fullmatch(entry.removesuffix(".py"))
        ]

    def _module(self, folder: Path, parts: list[str]) -> Path | None:
        path = folder.joinpath(*parts)
        if parts and path.with_suffix(".py").is_file():
            return path.with_suffix(".py")
        init = path / "__init__.py"
        return init if init.is_file() else None


@dataclass(eq=False)
class Project:
    """Parsed files by path; `load` brings in an imported one when it is first asked for."""

    reader: Reader = Path.read_bytes
    files: dict[Path, Names] = field(default_factory=dict)
    unreadable: dict[Path, Unreadable] = field(default_factory=dict)
    passed_over: list[Path] = field(default_factory=list)  # files that name no framework
    tests: list[Path] = field(default_factory=list)  # unit tests under a folder
    known: Mapping[Path, Names] = field(default_factory=dict)  # files that need not be read
    opened: tuple[Path, ...] = ()  # the files that are there by themselves: others are imported
    folders: Folders = field(default_factory=Folders)
    _found: dict[Path, dict[str, Path | None]] = field(default_factory=dict)  # by importer
    _imports: dict[Names, list[Names]] = field(default_factory=dict)
    _paths: dict[Path, list[Path]] = field(default_factory=dict)
    _checkouts: dict[str, Path | None] = field(default_factory=dict)  # by the name that its files import
    _taken: dict[tuple[str, str], bool] = field(default_factory=dict)  # by the names of file and member

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
            self.passed_over.append(path)
            return None
        if not force and UNIT_TEST.search(raw):
            self.tests.append(path)
            return None
        source = parse(path, raw)
        if isinstance(source, Unreadable):
            self.unreadable[path] = source
            return None
        names = self.files[path] = index(source)
        return names

    def taken_where_passed_over(self, path: Path, name: str) -> bool:
        """Whether a file that was passed over may import a name of a file: it has both of them, or a star."""
        if (path.stem, name) not in self._taken:
            module = re.compile(rb"\b%b\b" % re.escape(path.stem.encode()))
            taken = re.compile(rb"\b%b\b|import\s*\*" % re.escape(name.encode()))
            texts = (self.reader(other) for other in (*self.passed_over, *self.tests))
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
            modules += [self.load(path, force=False) for path in self._chosen(names)]
            self._imports[names] = [m for m in dict.fromkeys(modules) if m is not None and m is not names]
        return self._imports[names]

    def _chosen(self, names: Names) -> Iterator[Path]:
        """The files that `import_module("models." + name + "_model")` may mean: a name chosen as it runs."""
        for first, below in patterns(names):
            for around in self.folders.around(names.source.path.parent):
                found = self.folders.matching(around / first, below)
                yield from found
                if found:
                    break

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
                return found
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
            return self._of_checkout(top, stripped.partition(".")[2], importer)
        return found

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
            root = Path(os.path.commonpath([path.parent for path in self.files]))
            above = [folder for folder in importer.parents if folder == root or root in folder.parents]
            self._checkouts[top] = None
            for folder in above:
                packages = {name for name in inside if folder.joinpath(*name.split(".")).is_dir()}
                files = [self._holding(folder, name) for name in inside if name not in packages]
                if None not in files and len(set(files)) > 1:
                    self._checkouts[top] = folder
        checkout = self._checkouts[top]
        return self.folders.module(checkout, rest) if checkout is not None else None

    def _holding(self, folder: Path, name: str) -> Path | None:
        """The file of a module below a folder, or of the module that names the last part."""
        path = self.folders.module(folder, name)
        module, _, member = name.rpartition(".")
        if path is None and module:
            path = self.folders.module(folder, module)
            if path is not None and re.search(rb"\b%b\b" % member.encode(), self.reader(path)):
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


def open_project(paths: Iterable[Path], reader: Reader = Path.read_bytes) -> Project:
    """Read the given files, every Python file and notebook under the given folders, and local imports."""
    project = Project(reader)
    for path in paths:
        if path.is_dir():
            for file in python_files(path):
                project.load(file, force=False)
        else:
            project.load(path)
    _starters(project)
    project.opened = tuple(project.files)
    _close(project)
    return project


def reopen(project: Project, rewritten: Mapping[Path, Names], reader: Reader) -> Project:
    """The same project with some files rewritten: what was looked up stays, for no edit touches sys.path."""
    again = Project(
        reader,
        unreadable=dict(project.unreadable),
        passed_over=list(project.passed_over),
        tests=list(project.tests),
        known={**project.files, **rewritten},
        opened=project.opened,
        folders=project.folders,
        _found=project._found,
        _paths=project._paths,
        _checkouts=project._checkouts,
    )
    for path in project.opened:
        again.load(path)
    _close(again)
    return again


def _starters(project: Project) -> None:
    """Load the scripts that were passed over and import one of the files that name a framework."""
    known = set(project.files)
    words = re.compile(rb"\b(%s)\b" % b"|".join(sorted({re.escape(path.stem.encode()) for path in known})))
    for path in list(project.passed_over):
        raw = project.reader(path)
        source = parse(path, raw) if words.search(raw) else None
        if source is None or isinstance(source, Unreadable):
            continue
        names = index(source)
        if does_more_than_define(names) and any(project.find(name, path) in known for name in names.modules):
            project.files[path] = names
            project.passed_over.remove(path)
            project.forget(path)  # found without the folders that the script puts on sys.path


def does_more_than_define(names: Names) -> bool:
    """Whether a file does more than import, define and assign."""
    return any(
        isinstance(statement, (ast.If, ast.For, ast.While, ast.With))
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call))
        for statement in names.source.tree.body
    )


def python_files(folder: Path) -> Iterator[Path]:
    """Python files and notebooks under a folder, sorted; virtual environments are not source."""
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if name not in NOT_SOURCE and not Path(root, name, "pyvenv.cfg").exists()
        )
        yield from (Path(root, name) for name in sorted(files) if name.endswith((".py", ".ipynb")))


def patterns(names: Names) -> Iterator[tuple[str, list[re.Pattern[str]]]]:
    """The package, and names below it, that a call of import_module with a text and variables asks for."""
    for call in names.calls.get("import_module", ()):
        given = call.args[0] if call.args else None
        if isinstance(given, ast.Name):
            bound = [b.value for b in names.bindings(given.id, given) if b.kind == "assign"]
            given = bound[0] if len(bound) == 1 and isinstance(bound[0], ast.expr) else None
        first, *below = (_text(given) if given is not None else "").lstrip(".").split(".")
        if first and _HOLE not in first and any(_HOLE in part for part in below):
            yield first, [re.compile(r"[\w-]+".join(map(re.escape, part.split(_HOLE)))) for part in below]


def _text(node: ast.expr) -> str:
    """A text that is put together, with a mark wherever a value goes in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left) + _text(node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return _text(node.left).replace("%s", _HOLE)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return _text(node.func.value).replace("{}", _HOLE)
    return _HOLE


def _close(project: Project) -> None:
    """Load what the loaded files import, and what those import in turn."""
    waiting = list(project.files.values())
    seen = set(waiting)
    while waiting:
        for module in project.imports(waiting.pop()):
            if module not in seen:
                seen.add(module)
                waiting.append(module)
