"""What the parts of the value flow ask of each other, through the whole of it: flow.py lies above them."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Protocol

from hvdkit.migrate.values.value import CallSite, Value
from hvdkit.source.index.names import Binding, FunctionNode, Names
from hvdkit.source.project.files import Project


class Asking(Protocol):
    """The questions, as Flow answers them."""

    @property
    def project(self) -> Project:
        """The files."""

    def values(self, names: Names, node: ast.AST | None) -> frozenset[Value]:
        """Everything that an expression may be."""

    def bound(self, names: Names, binding: Binding) -> frozenset[Value]:
        """Everything that a variable may be by one of its bindings."""

    def attribute(self, names: Names, holder: ast.expr, attribute: str) -> frozenset[Value]:
        """Everything that `holder.attribute` may be."""

    def qualified(self, names: Names, node: ast.AST) -> frozenset[str]:
        """Qualified names of an expression."""

    def unwrap(self, values: Iterable[Value]) -> frozenset[Value]:
        """Values with every wrapper replaced by what it wraps."""

    def functions(self, names: Names, call: ast.Call) -> list[tuple[Names, FunctionNode]]:
        """The project's functions that a call may run."""

    def run_by(self, value: Value) -> list[tuple[Names, FunctionNode]]:
        """The project's functions that calling a value runs."""

    def call_sites(self, names: Names, function: FunctionNode) -> list[CallSite]:
        """The calls in the project that may run a function."""

    def classes(self, value: Value) -> list[tuple[Names, ast.ClassDef]]:
        """The class of a value and its project base classes."""

    def bases(self, value: Value) -> set[str]:
        """Qualified names of the library classes that a project class derives from."""
