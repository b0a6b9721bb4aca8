"""The import graph of the whole of hvdkit, drawn from its files: no circle, and no arrow that points up."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import hvdkit

ROOT = Path(hvdkit.__file__).parent
Graph = dict[str, set[str]]


def name_of(path: Path) -> str:
    """The dotted name of a module's file."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(tree: ast.AST, modules: set[str]) -> Iterator[str]:
    """The modules of hvdkit that a file names in imports, wherever they stand: for type checking, too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "hvdkit writes its imports out"
            for alias in node.names:
                inside = f"{node.module}.{alias.name}"
                yield inside if inside in modules else node.module or ""


def import_graph() -> Graph:
    """Each module of hvdkit, and those of hvdkit that it imports."""
    trees = {name_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in ROOT.rglob("*.py")}
    return {name: {*imports(tree, {*trees})} & {*trees} - {name} for name, tree in trees.items()}


def circle(graph: Graph) -> list[str]:
    """Modules that import each other in a circle, in that order; none where there is no circle."""
    done: set[str] = set()

    def walk(name: str, way: list[str]) -> list[str]:
        if name in way:
            return way[way.index(name) :]
        if name not in done:
            for other in sorted(graph[name]):
                if found := walk(other, [*way, name]):
                    return found
            done.add(name)
        return []

    return next((found for name in sorted(graph) if (found := walk(name, []))), [])


def test_a_circle_is_seen() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]


def test_no_circle_of_files() -> None:
    assert circle(import_graph()) == []
