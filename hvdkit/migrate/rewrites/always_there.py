"""An import that may fail, of a module that is not needed any more: what is used without it goes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.edits import CannotEdit, delete, own_lines
from hvdkit.migrate.edits.unnesting import open_up
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names


def falls_back_alone(names: Names, around: ast.Try, name: str, modules: tuple[str, ...]) -> bool:
    """Whether a `try:` around an import does nothing else, and only the import's name shows what came of it.

    What its handlers bind is bound by its body, too, or used in them alone; and below it, members of the
    module are read from the name, which itself is never looked at.
    """
    if around.orelse or around.finalbody:
        return False
    handled = {part for handler in around.handlers for part in ast.walk(handler)}
    inside = {part for statement in around.body for part in ast.walk(statement)} | handled
    body = {bound for statement in around.body for bound in _bound(statement)}
    for bound in {bound for handler in around.handlers for bound in _bound(handler)} - body:
        if not all(use in handled for use in names.uses.get(bound, ())):
            return False
    uses = [use for use in names.uses.get(name, ()) if use not in inside]
    beginnings = tuple(f"{module}." for module in modules)
    return all(
        isinstance(names.parents[use], ast.Attribute)
        and any(found.startswith(beginnings) for found in names.qualified(names.parents[use]))
        for use in uses
    )


def _bound(statement: ast.AST) -> Iterator[str]:
    """What a statement binds, and those below it."""
    for part in ast.walk(statement):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
        elif isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield part.name
        elif isinstance(part, ast.alias):
            yield part.asname or part.name.partition(".")[0]


def always_there(names: Names, around: ast.Try, statement: ast.stmt) -> list[Edit]:
    """The `try:` gone with the import and its handlers, and the rest of its body in its place."""
    source = names.source
    if len(around.body) == 1:
        return [Edit(*own_lines(source, around), "")]
    if statement is not around.body[0]:
        raise CannotEdit("the import is not the first line of its `try`")
    return [delete(names, statement), *open_up(names, around, gone=[statement])]
