"""Which bindings of a variable can have happened when a use of it runs: outside loops, none below it."""

from __future__ import annotations

import ast

from hvdkit.migrate.names import Binding, Names


def reaching(names: Names, name: str, use: ast.AST) -> tuple[Binding, ...]:
    """The bindings of a name without those that run after a use of it in the same function.

    `inner = model` above `model = DDP(model)` is the model itself. Only plain assignments are left out, and
    only for a use in the scope that they belong to: a function inside may run at any time.
    """
    scope = names.scope(use)
    bindings = names.bindings(name, use)
    if scope.owner(name) is not scope or len(bindings) < 2:
        return tuple(bindings)
    loops: set[ast.AST] = {
        parent for parent in names.ancestors(use) if isinstance(parent, (ast.For, ast.AsyncFor, ast.While))
    }
    statement = names.statement(use)
    kept = [b for b in bindings if not _comes_later(names, b, statement, loops)]
    return tuple(kept if kept else bindings)


def _comes_later(names: Names, binding: Binding, use: ast.stmt, loops: set[ast.AST]) -> bool:
    if binding.kind != "assign" or not isinstance(binding.node, ast.Name):
        return False
    if names.scope(binding.node) is not names.scope(use):
        return False  # `global` in a function
    assigned = names.statement(binding.node)
    # `model = DDP(model)`: what it gives its own value comes from above.
    own = assigned is use and isinstance(use, (ast.Assign, ast.AnnAssign))
    below = own or assigned.lineno > (use.end_lineno or use.lineno)
    return below and not any(parent in loops for parent in names.ancestors(assigned))
