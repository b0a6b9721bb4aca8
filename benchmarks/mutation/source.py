"""A script as text and as a tree, with edits by the place of a node."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Edit:
    """The bytes from start to end become a text."""

    start: int
    end: int
    text: str


Edits = list[Edit]
Sites = Callable[["Source"], Iterator[Edits]]  # each place where an operator fits, with what it does there


class Source:
    """One script."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.raw = text.encode()
        self.tree = ast.parse(text)
        self.parents = {
            child: parent for parent in ast.walk(self.tree) for child in ast.iter_child_nodes(parent)
        }
        self.lines = [0]
        for line in self.raw.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))

    def start(self, node: ast.AST) -> int:
        """Where a node begins, in bytes."""
        return self.lines[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        """Where it ends."""
        return self.lines[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def of(self, node: ast.AST) -> str:
        """Its text."""
        return self.raw[self.start(node) : self.end(node)].decode()

    def put(self, node: ast.AST, text: str) -> Edit:
        """A node becomes a text."""
        return Edit(self.start(node), self.end(node), text)

    def before(self, statement: ast.stmt, line: str) -> Edit:
        """A line comes before a statement."""
        at = self.start(statement)
        return Edit(at, at, f"{line}\n{' ' * statement.col_offset}")

    def after(self, statement: ast.stmt, line: str) -> Edit:
        """A line comes after a statement."""
        at = self.end(statement)
        return Edit(at, at, f"\n{' ' * statement.col_offset}{line}")

    def argument(self, call: ast.Call, text: str) -> Edit:
        """A call gets one more keyword argument."""
        at = self.end(call) - 1
        given = [*call.args, *(word.value for word in call.keywords)]
        comma = ", " if given and b"," not in self.raw[self.end(given[-1]) : at] else ""
        return Edit(at, at, comma + text)

    def top(self, lines: str) -> Edit:
        """Lines come below the imports, where functions may stand."""
        last = next(
            node
            for place, node in enumerate(self.tree.body)
            if not isinstance(node, (ast.Import, ast.ImportFrom)) and not (place == 0 and _is_text(node))
        )
        at = self.lines[min([last.lineno, *(d.lineno for d in getattr(last, "decorator_list", []))]) - 1]
        return Edit(at, at, f"{lines}\n\n")

    def calls(self, *names: str) -> Iterator[ast.Call]:
        """The calls of functions and methods by the last part of their names."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and name_of(node.func) in names:
                yield node

    def statement(self, node: ast.AST) -> ast.stmt:
        """The one that a node is in."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def within(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node is in, inside first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def edited(self, edits: Edits) -> str:
        """The text with all of them."""
        raw = self.raw
        for edit in sorted(edits, key=lambda one: (one.start, one.end), reverse=True):
            raw = raw[: edit.start] + edit.text.encode() + raw[edit.end :]
        return raw.decode()


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def name_of(function: ast.AST) -> str:
    """The last part of a name."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The value of a keyword argument."""
    return next((word.value for word in call.keywords if word.arg == name), None)
