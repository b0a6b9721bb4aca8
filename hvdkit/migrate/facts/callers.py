"""Where the project's functions are called from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hvdkit.migrate.facts.arguments import spawned
from hvdkit.migrate.names import FunctionNode, Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.flow import Flow

STARTERS = ("spawn", "start_processes", "Process", "partial")


def find_calls(flow: Flow, names: Names, function: FunctionNode) -> Iterator[tuple[Names, ast.Call]]:
    """Calls in the project that may run a function, spawning calls included."""
    name = getattr(function, "name", None)
    wanted = {name} if name else set()
    owner = names.parents.get(function)
    if isinstance(owner, ast.ClassDef) and name == "__init__":
        wanted = {owner.name, "__init__"}
    elif isinstance(owner, ast.ClassDef) and name == "forward":
        return  # a module's call: the receivers are too many to ask, and no fact needs them
    elif isinstance(owner, ast.ClassDef) and name == "__call__":
        yield from _instance_calls(flow, function)
        return
    for other in list(flow.project.files.values()):
        for key in wanted:
            for alias in {key} | _aliases(other, key):
                for call in other.calls.get(alias, ()):
                    if any(node is function for _, node in flow.functions(other, call)):
                        yield other, call
        for key in STARTERS:
            for call in other.calls.get(key, ()):
                target = spawned(other, call)
                if target is not None and any(v.node is function for v in flow.values(other, target)):
                    yield other, call


def _instance_calls(flow: Flow, function: FunctionNode) -> Iterator[tuple[Names, ast.Call]]:
    """Calls of variables and attributes that may hold an instance with this __call__."""
    for other in list(flow.project.files.values()):
        for key, calls in list(other.calls.items()):
            for call in calls:
                if isinstance(call.func, ast.Name):
                    kinds = {binding.kind for binding in other.bindings(key, call.func)}
                    may_hold = bool(kinds & {"assign", "param", "each", "with"})
                else:
                    may_hold = key in other.stores
                if may_hold and any(node is function for _, node in flow.functions(other, call)):
                    yield other, call


def _aliases(names: Names, name: str) -> set[str]:
    """Other names under which a file imports `name`."""
    return {
        alias
        for alias, bindings in names.module.names.items()
        for binding in bindings
        if binding.kind == "import" and binding.qualified.rpartition(".")[2] == name
    }
