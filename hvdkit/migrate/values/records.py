"""Tuples with names for their places: what `Point = namedtuple("Point", "x y")` makes of its arguments."""

from __future__ import annotations

import ast

NAMED_TUPLE = "collections.namedtuple"


def fields(made_by: ast.AST) -> list[str]:
    """The names of the places, by the call of namedtuple; none where they are not written out."""
    if not isinstance(made_by, ast.Call) or len(made_by.args) < 2:
        return []
    listed = made_by.args[1]
    if isinstance(listed, ast.Constant) and isinstance(listed.value, str):
        return listed.value.replace(",", " ").split()
    texts = [getattr(each, "value", None) for each in getattr(listed, "elts", ())]
    return [text for text in texts if isinstance(text, str)] if all(texts) else []


def record(call: ast.Call, names: list[str]) -> ast.Tuple | None:
    """The tuple that a call makes, its elements as the call gives them; None where that is not seen."""
    if any(isinstance(arg, ast.Starred) for arg in call.args) or any(k.arg is None for k in call.keywords):
        return None
    given = dict(zip(names, call.args))
    given.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg})
    elements = [given.get(name, ast.Constant(None)) for name in names]
    return ast.copy_location(ast.Tuple(elements, ast.Load()), call)
