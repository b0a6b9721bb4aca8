"""Which bindings of a variable can have happened when a use of it runs, and which has happened last."""

from __future__ import annotations

import ast

from hvdkit.source.index.names import FUNCTIONS, LOOPS, Binding, Names

DEFINITIONS = ("def", "class")


def reaching(names: Names, name: str, use: ast.AST) -> tuple[Binding, ...]:
    """The bindings of a name without those that run after a use of it in the same function.

    `inner = model` above `model = DDP(model)` is the model itself. A function or class that is defined again
    is what its last definition above the use made it. What the other arm of an `if` binds is left out. This
    is so only for a use in the scope that they belong to: a function inside may run at any time.
    """
    scope = names.scope(use)
    bindings = names.bindings(name, use)
    if scope.owner(name) is not scope or len(bindings) < 2:
        return tuple(bindings)
    loops: set[ast.AST] = {parent for parent in names.ancestors(use) if isinstance(parent, LOOPS)}
    statement = names.statement(use)
    kept = [b for b in bindings if not _comes_later(names, b, statement, loops)]
    kept = [b for b in kept if not _in_other_arm(names, b.node, use, loops)]
    again = [b for b in kept if b.kind in DEFINITIONS and _defined_before(names, b, use)]
    if len(again) > 1:
        last = max(_place(b.node) for b in again)
        kept = [b for b in kept if _place(b.node) >= last]
    return tuple(kept if kept else bindings)


def last_binding(names: Names, use: ast.Name) -> Binding | None:
    """The binding that a use of a variable reads whenever it runs; None where that is not certain.

    It stands above the use in the same block, or in a block around it, and no other one between them.
    """
    scope = names.scope(use)
    if scope.owner(use.id) is not scope:
        return None
    above = [b for b in names.bindings(use.id, use) if _place(b.node) < _place(use)]
    above = [b for b in above if names.statement(use) is not names.statement(b.node) or b.kind == "with"]
    last = max(above, key=lambda binding: _place(binding.node), default=None)
    if last is None or last.kind not in ("assign", "with"):
        return None
    return last if always_beside(names, names.statement(last.node), use) else None


def renewed(names: Names, use: ast.Name) -> Binding | None:
    """The last assignment that has run whenever a variable is used: what it held before is gone."""
    scope = names.scope(use)
    if scope.owner(use.id) is not scope:
        return None
    above = [b for b in names.bindings(use.id, use) if b.kind == "assign" and _place(b.node) < _place(use)]
    certain = [
        binding
        for binding in above
        if binding.value is not None
        and not any(isinstance(part, ast.Name) and part.id == use.id for part in names.walk(binding.value))
        and names.statement(binding.node) is not names.statement(use)
        and always_beside(names, names.statement(binding.node), use)
    ]
    return max(certain, key=lambda binding: _place(binding.node), default=None)


def held_at(names: Names, use: ast.Name) -> tuple[Binding, ...]:
    """The bindings that a use of a variable may read: none above the last certain one, none below it."""
    start = renewed(names, use)
    bindings = reaching(names, use.id, use)
    return bindings if start is None else tuple(b for b in bindings if _place(b.node) >= _place(start.node))


def remaining(
    names: Names, use: ast.expr, bindings: list[tuple[Names, Binding]]
) -> list[tuple[Names, Binding]]:
    """Without the assignments that another one below them, in a block around the use, makes void."""
    above = [
        names.statement(binding.node).lineno
        for _, binding in bindings
        if binding.kind == "assign"
        and names.statement(binding.node).lineno < use.lineno
        and always_beside(names, names.statement(binding.node), use)
    ]
    if not above:
        return bindings
    return [
        (where, binding)
        for where, binding in bindings
        if names.statement(binding.node).lineno >= max(above) and binding.kind != "param"
    ]


def passed_once(names: Names, node: ast.AST) -> ast.stmt | None:
    """The statement of a function's own body, or the module's, that holds a node; None under an if or a loop.

    There every rank passes it exactly once, as a barrier needs; so it does below a test of options.
    """
    statement: ast.stmt = names.statement(node)
    child: ast.stmt = statement
    for parent in names.ancestors(statement):
        if isinstance(parent, ast.With):
            statement = child = parent
        elif isinstance(parent, ast.If) and child in parent.body and _is_alike(names, parent.test):
            child = parent
        else:
            return statement if isinstance(parent, (ast.Module, *FUNCTIONS)) else None
    return statement


def _is_alike(names: Names, test: ast.expr) -> bool:
    """Whether a test is the main guard, or asks for options of the command line: alike on all ranks."""
    parts = [part for part in ast.walk(test) if isinstance(part, (ast.Name, ast.Call))]
    return all(
        isinstance(part, ast.Name) and (part.id == "__name__" or is_parsed(names, part)) for part in parts
    )


def is_parsed(names: Names, name: ast.Name) -> bool:
    """Whether a variable only ever holds what a parser of the command line has made."""
    values = [binding.value for binding in names.bindings(name.id, name)]
    return bool(values) and all(isinstance(value, ast.Call) and _parses(names, value) for value in values)


def _parses(names: Names, call: ast.Call) -> bool:
    """`parser.parse_args()`, and the call of a function of the file that returns what that gives."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr in ("parse_args", "cli")
    bound = names.bindings(call.func.id, call.func) if isinstance(call.func, ast.Name) else []
    function = bound[0].node if len(bound) == 1 and bound[0].kind == "def" else None
    results = names.returns.get(function, []) if function is not None else []
    return bool(results) and all(
        (isinstance(result, ast.Call) and getattr(result.func, "attr", "") == "parse_args")
        or (isinstance(result, ast.Name) and names.function(result) is function and is_parsed(names, result))
        for result in results
    )


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def always_beside(names: Names, statement: ast.stmt, use: ast.AST) -> bool:
    """Whether a statement runs whenever a node does: it is a `with` around it, or in a block around it."""
    child = use
    for parent in names.ancestors(use):
        if parent is statement:
            return isinstance(statement, (ast.With, ast.AsyncWith)) and child in statement.body
        for block in (getattr(parent, field, None) for field in ("body", "orelse", "finalbody")):
            if isinstance(block, list) and statement in block and child in block:
                return True
        child = parent
    return False


def _in_other_arm(names: Names, bound: ast.AST, use: ast.AST, loops: set[ast.AST]) -> bool:
    """Whether an `if` above both runs the one or the other; in a loop its next turn may run the other."""
    arms: dict[ast.AST, ast.AST] = {}
    child = use
    for parent in names.ancestors(use):
        if isinstance(parent, ast.If):
            arms[parent] = child
        child = parent
    child = bound
    for parent in names.ancestors(bound):
        if isinstance(parent, ast.If) and parent in arms:
            one, other = child in parent.body, arms[parent] in parent.body
            both = child in (*parent.body, *parent.orelse) and arms[parent] in (*parent.body, *parent.orelse)
            return both and one is not other and loops.isdisjoint(names.ancestors(parent))
        child = parent
    return False


def _defined_before(names: Names, binding: Binding, use: ast.AST) -> bool:
    return isinstance(binding.node, ast.stmt) and always_beside(names, binding.node, use)


def _comes_later(names: Names, binding: Binding, use: ast.stmt, loops: set[ast.AST]) -> bool:
    if isinstance(binding.node, ast.stmt) and binding.kind in DEFINITIONS:
        below = binding.node.lineno > (use.end_lineno or use.lineno)
        return below and not any(parent in loops for parent in names.ancestors(binding.node))
    if binding.kind != "assign" or not isinstance(binding.node, ast.Name):
        return False
    if names.scope(binding.node) is not names.scope(use):
        return False  # `global` in a function
    assigned = names.statement(binding.node)
    # `model = DDP(model)`: what it gives its own value comes from above.
    own = assigned is use and isinstance(use, (ast.Assign, ast.AnnAssign))
    below = own or assigned.lineno > (use.end_lineno or use.lineno)
    return below and not any(parent in loops for parent in names.ancestors(assigned))
