"""Where a project keeps its modules, and with it how its script is started from another place."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from hvdkit.docker.script import Script
from hvdkit.migrate.names import Names

_ROOTS = (".", "src")  # of a project, where a package that is imported from elsewhere in it may lie


@dataclass(frozen=True)
class Layout:
    """command: what a rank runs, in the project's folder. notebook: (notebook, its program) or None.

    paths: folders, relative to the project's, that Python has to import from besides the script's own.
    """

    command: tuple[str, ...]
    paths: tuple[str, ...]
    notebook: tuple[str, str] | None = None


def lay_out(context: Path, script: Script) -> Layout:
    """How the script is started in a copy of the project's folder."""
    paths = _outer_paths(context, script)
    relative = script.path.relative_to(context)
    if relative.suffix == ".ipynb":
        program = relative.with_suffix(".py")
        if (context / program).exists():
            program = relative.with_name(f"{relative.stem}_notebook.py")
        return Layout(
            ("python", program.as_posix()), tuple(sorted(paths)), (relative.as_posix(), program.as_posix())
        )
    if not (script.path.parent / "__init__.py").exists():
        return Layout(("python", relative.as_posix()), tuple(sorted(paths)))
    # Inside a package: run as its module, so that its relative imports find their way.
    folder = script.path.parent
    while (folder / "__init__.py").exists() and folder != context:
        folder = folder.parent
    module = ".".join(script.path.relative_to(folder).with_suffix("").parts)
    paths.add(folder.relative_to(context).as_posix())
    return Layout(("python", "-m", module.removesuffix(".__main__")), tuple(sorted(paths)))


def project_files(context: Path, script: Script) -> list[Names]:
    """The script's files, and those that it imports from the project's own folders."""
    files = list(script.files)
    for names in files:
        for module in _imported(names):
            found = find(context, script, names, module)
            loaded = script.project.load(found) if found else None
            if loaded is not None and loaded not in files:
                files.append(loaded)
    return files


def top_modules(names: Names) -> dict[str, int]:
    """The top-level modules that a file imports, with the line of the first import; no relative ones."""
    found: dict[str, int] = {}
    for module, line in _imported(names).items():
        found.setdefault(module.partition(".")[0], line)
    return found


def find(context: Path, script: Script, names: Names, module: str) -> Path | None:
    """The project's own file or package of that name, as the file `names` would import it."""
    local = script.project.find(module, names.source.path)
    return local or next((found for root in _ROOTS if (found := _at(context / root, module))), None)


def _outer_paths(context: Path, script: Script) -> set[str]:
    """The roots of the project that an import goes to which Python would not find from the script alone."""
    needed = set()
    for names in project_files(context, script):
        for module in top_modules(names):
            if script.project.find(module, names.source.path) is None:
                needed |= {root for root in _ROOTS[::-1] if _at(context / root, module)}
    return needed


def _at(root: Path, module: str) -> Path | None:
    path = root.joinpath(*module.split("."))
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in candidates if file.is_file()), None)


def _imported(names: Names) -> dict[str, int]:
    """Every absolute module name of an import statement, with the line of the first."""
    found: dict[str, int] = {}
    for node in ast.walk(names.source.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found.setdefault(alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.setdefault(node.module, node.lineno)
            for alias in node.names:
                found.setdefault(f"{node.module}.{alias.name}", node.lineno)
    return found
