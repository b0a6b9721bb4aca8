"""The methods that run where a class leaves one open: `def step(self): raise NotImplementedError`.

A trainer's loop calls them on `self`, and each class that derives from it brings its own. One that does
something is taken to be the one that runs: which of the deriving classes is made is not asked.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import partial

from hvdkit.migrate.values.flow_questions import Asking
from hvdkit.migrate.values.memo import Memo
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import FunctionNode, Names

Method = tuple[Names, FunctionNode]


class Overrides:
    """Methods of deriving classes, found by their names."""

    def __init__(self, flow: Asking, memo: Memo[Value]) -> None:
        self._flow = flow
        self._memo = memo
        self._found: dict[tuple[ast.AST, str], list[Method]] = {}
        self._by_name: dict[str, list[tuple[Names, ast.ClassDef, FunctionNode]]] = {}
        self._read = 0

    def of(self, value: Value, name: str, methods: list[Method]) -> list[Method]:
        """Those of classes that derive from a value's, where its own methods of that name are left open."""
        if not all(_is_open(method) for _, method in methods) or not isinstance(value.node, ast.ClassDef):
            return []
        named = self._named(name)
        return self._memo.remembered(self._found, (value.node, name), partial(self._below, value, named))

    def _below(self, value: Value, named: list[tuple[Names, ast.ClassDef, FunctionNode]]) -> list[Method]:
        found = []
        for names, owner, method in named:
            if owner is not value.node and not _is_open(method):
                made = Value("class", owner.name, owner, names)
                if any(base is value.node for _, base in self._flow.classes(made)):
                    found.append((names, method))
        return found

    def _named(self, name: str) -> list[tuple[Names, ast.ClassDef, FunctionNode]]:
        files = self._flow.project.files
        if len(files) != self._read:  # following a name may load a file
            self._read = len(files)
            by_name: dict[str, list[tuple[Names, ast.ClassDef, FunctionNode]]] = defaultdict(list)
            for names in files.values():
                for owner in names.of_kind(ast.ClassDef):
                    for method in owner.body if owner.bases else ():
                        if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)):
                            by_name[method.name].append((names, owner, method))
            self._by_name = by_name
            self._found.clear()
        return self._by_name.get(name, [])


def is_parent(holder: ast.expr) -> bool:
    """Whether an expression is `super()`, whose methods are the parent's own."""
    called = holder.func if isinstance(holder, ast.Call) else None
    return isinstance(called, ast.Name) and called.id == "super"


def _is_open(method: FunctionNode) -> bool:
    """Whether a method does nothing, or says that a deriving class has to bring it."""
    body = method.body if isinstance(method.body, list) else [method.body]
    return all(
        isinstance(statement, ast.Pass)
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        or (isinstance(statement, ast.Raise) and "NotImplemented" in ast.unparse(statement))
        for statement in body
    )
