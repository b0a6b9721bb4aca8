"""Choices between a wrapper's model and the model itself, which are none without the wrapper."""

from __future__ import annotations

import ast
import re

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.checkpoints.unwrapping import only_asks
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names


def without_choice(facts: Facts, names: Names, node: ast.Attribute) -> Edit | None:
    """What is left of a choice whose arms are the same without `.module`; None where they are not.

    `x.module.f() if test else x.f()`, and an `if` with one statement in each arm. Where the test does more
    than to ask, the choice stays.
    """
    whole: ast.expr = node
    parent = names.parents[node]
    while isinstance(parent, (ast.Attribute, ast.Call, ast.Subscript)) and whole in _heads(parent):
        whole, parent = parent, names.parents[parent]
    if isinstance(parent, ast.IfExp) and whole is not parent.test:
        other = parent.orelse if whole is parent.body else parent.body
        if _same(whole, other, node) and only_asks(facts, names, parent.test):
            return _in_its_place(names, parent, names.source.segment(other))
    statement = names.statement(node)
    test = names.parents[statement]
    if not isinstance(test, ast.If) or names.source.is_elif(test) or len(test.body) + len(test.orelse) != 2:
        return None
    if not test.orelse or "#" in names.source.segment(test) or not only_asks(facts, names, test.test):
        return None
    left = test.orelse[0] if statement is test.body[0] else test.body[0]
    if statement in (*test.body, *test.orelse) and _same(statement, left, node):
        return edits.replace(names.source, test, names.source.segment(left))
    return None


def _heads(node: ast.Attribute | ast.Call | ast.Subscript) -> tuple[ast.expr, ...]:
    return (node.func,) if isinstance(node, ast.Call) else (node.value,)


def _same(one: ast.AST, other: ast.AST, node: ast.Attribute) -> bool:
    """Whether one arm is the other where an attribute of it goes."""
    return ast.unparse(one).replace(ast.unparse(node), ast.unparse(node.value), 1) == ast.unparse(other)


def _in_its_place(names: Names, choice: ast.IfExp, text: str) -> Edit:
    """A conditional expression replaced, with the parentheses it needs in front of an attribute."""
    source = names.source
    start, end = source.start(choice), source.end(choice)
    if isinstance(names.parents[choice], (ast.Attribute, ast.Subscript)):
        opening = re.search(r"\(\s*$", source.text[:start])
        closing = re.match(r"\s*\)", source.text[end:])
        if opening and closing:
            start, end = opening.start(), end + closing.end()
    return Edit(start, end, text)
