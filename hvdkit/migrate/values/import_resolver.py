"""What a dotted name stands for by imports, aliases and definitions alone, across the project's files.

Most names that a file calls are a library's, or functions and classes of the project: imports answer for
them, and no value is followed. Where a variable, a parameter or a store decides, there is no answer here.
"""

from __future__ import annotations

import ast
import builtins

from hvdkit.migrate.canonical import canonical
from hvdkit.migrate.names import Binding, Names
from hvdkit.migrate.project import Project

METHODS = (ast.FunctionDef, ast.AsyncFunctionDef)
MAX_ALIASES = 20  # imports and aliases followed for one name; circles of imports end here

# ("name", qualified, None), ("module", name, its file), or ("own", "", None): defined in the project.
Target = tuple[str, str, "Names | None"]
OWN: Target = ("own", "", None)


def imported(project: Project, names: Names, binding: Binding) -> tuple[str, Names | None]:
    """What an import brings: ("module", its file), ("member", its file), ("name", None) or ("", None).

    In Unet/train.py `from Unet import Unet` is a name in Unet/Unet.py, not that file in a package Unet; where
    core/__init__.py has `from .launch import launch`, `from core import launch` is that function.
    """
    name, path = binding.qualified, names.source.path
    module = project.module(name, path)
    head, _, member = name.rpartition(".")
    if name.startswith(".") and not head.strip("."):
        head = "." * (len(name) - len(name.lstrip(".")))
    parent = project.module(head, path) if head else None
    given = parent is not None and parent is not names and bool(parent.module.names.get(member))
    if module is not None and module is not parent and not given:
        return "module", module
    if parent is not None and parent is not names:
        return "member", parent
    return ("", None) if name.startswith(".") else ("name", None)


class ImportResolver:
    """Names resolved without values. Raises nothing: None is "ask the value flow"."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._stored: set[str] = set()
        self._read = 0
        self._members: dict[tuple[Names, str], frozenset[Target] | None] = {}

    def qualified(self, names: Names, node: ast.AST) -> frozenset[str] | None:
        """The names of a.b.c in libraries: empty for what the project defines, None when not known."""
        targets = self._resolved(names, node, 0)
        return None if targets is None else frozenset(name for kind, name, _ in targets if kind == "name")

    def _resolved(self, names: Names, node: ast.AST | None, depth: int) -> frozenset[Target] | None:
        tail: list[str] = []
        while isinstance(node, ast.Attribute):
            tail.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        bindings = names.bindings(node.id, node)
        if not bindings:
            if not tail and hasattr(builtins, node.id):
                return frozenset()
            targets = self._starred(names, node.id, depth)
        elif node.id in self._stores():
            return None
        else:
            targets = self._bound(names, bindings, depth)
        for attribute in reversed(tail):
            if targets is None:
                return None
            targets = self._below(targets, attribute)
        return targets

    def _stores(self) -> set[str]:
        """The names that some file stores as attributes: `module.name = value` may be one of them."""
        files = self._project.files
        if len(files) != self._read:  # resolving an import may load a file
            self._read = len(files)
            self._stored = {
                key
                for names in files.values()
                for key, stores in names.stores.items()
                if key.isidentifier() and not all(_of_self(names, receiver) for receiver, _ in stores)
            }
            self._members.clear()
        return self._stored

    def _bound(self, names: Names, bindings: list[Binding], depth: int) -> frozenset[Target] | None:
        found: set[Target] = set()
        for binding in bindings:
            if binding.kind in ("def", "class"):
                found.add(OWN)
            elif binding.kind == "import" and depth < MAX_ALIASES:
                brought = self._imported(names, binding, depth + 1)
                if brought is None:
                    return None
                found |= brought
            elif binding.kind == "assign" and not binding.path and depth < MAX_ALIASES:
                named = self._resolved(names, binding.value, depth + 1)
                if named is None:
                    return None
                found |= named
            else:
                return None
        return frozenset(found)

    def _imported(self, names: Names, binding: Binding, depth: int) -> frozenset[Target] | None:
        kind, module = imported(self._project, names, binding)
        if module is None:
            return frozenset([("name", canonical(binding.qualified), None)] if kind == "name" else ())
        if kind == "module":
            return frozenset([("module", binding.qualified, module)])
        return self._member(module, binding.qualified.rpartition(".")[2], depth)

    def _member(self, module: Names, name: str, depth: int) -> frozenset[Target] | None:
        """What a module has under a name."""
        if name in self._stores() or depth > MAX_ALIASES:
            return None
        key = (module, name)
        if key not in self._members:
            bindings = module.module.names.get(name)
            self._members[key] = (
                self._bound(module, bindings, depth) if bindings else self._starred(module, name, depth)
            )
        return self._members[key]

    def _starred(self, names: Names, name: str, depth: int) -> frozenset[Target] | None:
        found: set[Target] = set()
        libraries: set[Target] = set()
        for star in names.stars if not hasattr(builtins, name) else ():
            module = self._project.module(star, names.source.path)
            if module is not None and module is not names:
                inside = self._member(module, name, depth + 1)
                if inside is None:
                    return None
                found |= inside
            elif module is None and not star.startswith("."):
                libraries.add(("name", canonical(f"{star}.{name}"), None))
        return frozenset(found or libraries)

    def _below(self, targets: frozenset[Target], attribute: str) -> frozenset[Target] | None:
        found: set[Target] = set()
        for kind, name, module in targets:
            if module is not None:
                inside = self._member(module, attribute, 0)
                if inside is None:
                    return None
                found |= inside
                if not inside:
                    return None  # a module below, or nothing
            elif kind == "name":
                found.add(("name", canonical(f"{name}.{attribute}"), None))
            else:
                return None  # a class's attribute may be a library's
        return frozenset(found)


def _of_self(names: Names, receiver: ast.expr) -> bool:
    """Whether a store is on a method's own object, which is no module."""
    function = names.function(receiver)
    if not isinstance(receiver, ast.Name) or not isinstance(function, METHODS):
        return False
    own = [*function.args.posonlyargs, *function.args.args][:1]
    static = any(getattr(item, "id", "") == "staticmethod" for item in function.decorator_list)
    method = isinstance(names.parents.get(function), ast.ClassDef) and not static
    return method and [arg.arg for arg in own] == [receiver.id]
