"""Asks about a node, and where its function is called, and so on: each function once, whoever calls it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile
from typing import Callable, Optional

from hvdkit.migrate.facts.facts import Facts
from hvdkit.source.index.names import Names

# Whether a place settles the ways through it: yes, no, or None where those say who call its function.
At = Callable[[Names, ast.AST], Optional[bool]]


def in_own_function(names: Names, node: ast.AST) -> Iterator[ast.AST]:
    """What is around a node in the function that runs it, innermost first."""
    function = names.function(node)
    return takewhile(lambda parent: parent is not function, names.ancestors(node))


def on_every_way(facts: Facts, names: Names, node: ast.AST, at: At) -> bool:
    """Whether a yes settles each way that leads to a node; no where nobody is seen to call a function."""
    waiting, seen, found = [(names, node)], set[ast.AST](), False
    while waiting:
        where, place = waiting.pop()
        answer = at(where, place)
        function = where.function(place)
        if answer is None and function is not None:
            sites = facts.flow.call_sites(where, function)
            if not sites:
                return False
            waiting += sites if function not in seen else ()
            seen.add(function)
        elif answer:
            found = True
        else:
            return False
    return found


def on_some_way(facts: Facts, names: Names, node: ast.AST, at: At) -> bool:
    """Whether one of the ways that lead to a node is settled by a yes."""
    waiting, seen = [(names, node)], set[ast.AST]()
    while waiting:
        where, place = waiting.pop()
        answer = at(where, place)
        function = where.function(place)
        if answer:
            return True
        if answer is None and function is not None and function not in seen:
            seen.add(function)
            waiting += facts.flow.call_sites(where, function)
    return False
