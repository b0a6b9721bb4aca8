"""Where a project keeps its modules, and with it how its script is started from another place."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from hvdkit.docker.script import Script
from hvdkit.files import is_inside
from hvdkit.source.index.names import Names
from hvdkit.source.notebook import NOTEBOOK, program_beside

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
    if relative.suffix == NOTEBOOK:
        program = program_beside(script.path).relative_to(context)
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
    """The script's files, and those that they import from the project's own folders."""
    files = [names for names in script.files if is_inside(names.source.path, context)]
    for names in files:
        for module in _imported(names):
            found = _find(context, script, names, module)
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


def local_roots(context: Path, script: Script, names: Names) -> dict[str, Path]:
    """Those of a file's top-level modules that are the project's own, with the folder that each lies in."""
    roots = {}
    for module in _imported(names):
        found = _find(context, script, names, module)
        if found:
            parts = module.split(".")
            roots[parts[0]] = found.parents[len(parts) - (found.name != "__init__.py")]
    return roots


def _find(context: Path, script: Script, names: Names, module: str) -> Path | None:
    """The project's own file of that name, as the file `names` would import it."""
    found = script.project.find(module, names.source.path)
    if found and found.is_relative_to(context) and is_inside(found, context):
        return found
    path = Path(*module.split("."))
    candidates = (root / file for root in _ROOTS for file in (path.with_suffix(".py"), path / "__init__.py"))
    return next(
        (
            context / file
            for file in candidates
            if (context / file).is_file() and is_inside(context / file, context)
        ),
        None,
    )


def _outer_paths(context: Path, script: Script) -> set[str]:
    """Folders that the project imports from where Python, which looks beside the script, would not look."""
    roots = {
        root
        for names in project_files(context, script)
        for root in local_roots(context, script, names).values()
    }
    return {root.relative_to(context).as_posix() for root in roots - {script.path.parent}}


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
