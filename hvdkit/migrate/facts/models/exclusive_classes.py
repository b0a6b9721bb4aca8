"""Classes of which a variable holds an object: what the methods of one do never meets what the others' do."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.index.names import Names

FileNode = tuple[Names, ast.AST]


def never_meet(
    facts: Facts,
    names: Names,
    ways: Sequence[ast.Call],
    some: Sequence[FileNode],
    others: Sequence[FileNode],
) -> bool:
    """Whether some places and others are in classes of which one object is of one or the other.

    ways: the calls of its methods, in one file, by which all of these places are come to.
    """
    holders = [way.func.value for way in ways if isinstance(way.func, ast.Attribute)]
    held = holders[0] if holders else None
    if len(holders) < len(ways) or not isinstance(held, ast.Name) or len(set(map(ast.dump, holders))) > 1:
        return False
    if any(binding.kind == "each" for binding in names.bindings(held.id, held)):
        return False
    objects = facts.flow.values(names, held)
    if not objects or any(value.kind != "object" for value in objects):
        return False
    mine, theirs = set(map(_class_of, some)), set(map(_class_of, others))
    families = [{node for _, node in facts.flow.classes(value)} for value in objects]
    return None not in mine | theirs and not any(mine & family and theirs & family for family in families)


def _class_of(place: FileNode) -> ast.AST | None:
    """The class whose method a place is in."""
    names, node = place
    return names.class_around(node)
