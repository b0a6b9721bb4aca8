"""How the variables that a tape takes gradients by are written at the loop that runs its step."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.keras.step_loops import StepLoop
from hvdkit.migrate.values.spelling import spelled
from hvdkit.source.index.names import Names


def variables_at(facts: Facts, loop: StepLoop, names: Names, sources: ast.expr) -> list[str]:
    """What gradients are taken by, as it is written at the loop; "" for what cannot be written there."""
    if isinstance(sources, ast.Lambda):
        return variables_at(facts, loop, names, sources.body)
    listed = isinstance(sources, ast.Call) and getattr(sources.func, "id", "") in ("list", "tuple")
    if listed and isinstance(sources, ast.Call) and sources.args:
        return variables_at(facts, loop, names, sources.args[0])
    if isinstance(sources, ast.BinOp) and isinstance(sources.op, ast.Add):
        return [
            *variables_at(facts, loop, names, sources.left),
            *variables_at(facts, loop, names, sources.right),
        ]
    if isinstance(sources, ast.Attribute) and sources.attr in words.VARIABLES:
        model = written_at(facts, loop, names, sources.value)
        return [f"{model}.variables" if model else ""]
    if isinstance(sources, ast.Name):
        values = [b.value for b in names.bindings(sources.id, sources) if b.kind == "assign" and not b.path]
        if len(values) == 1 and isinstance(values[0], (ast.BinOp, ast.Attribute)):
            return variables_at(facts, loop, names, values[0])
        one = written_at(facts, loop, names, sources) or ""
        alone = "tensorflow.Variable" in facts.flow.made(names, sources)  # its rows are no variables
        return [f"[{one}]" if alone and one else one]
    if isinstance(sources, (ast.List, ast.Tuple)) and all(isinstance(e, ast.Name) for e in sources.elts):
        written = [written_at(facts, loop, names, element) or "" for element in sources.elts]
        return [f"[{', '.join(written)}]" if all(written) else ""]
    return [""]


def written_at(facts: Facts, loop: StepLoop, names: Names, node: ast.expr) -> str | None:
    """How an expression of the step is written at the loop: the same, or by another variable."""
    head = node
    while isinstance(head, ast.Attribute):
        head = head.value
    if isinstance(head, ast.Name) and names is loop.names:
        there = names.scope(loop.statement).owner(head.id)
        here = names.scope(node).owner(head.id)
        if here is not None and here is there:
            return names.source.segment(node)
    values = facts.flow.values(names, node)
    written = spelled(facts.flow, loop.names, loop.statement, values) if values else None
    if written is None and isinstance(node, ast.Attribute) and names is loop.names:
        written = _of_same_class(loop, names, node)
    if written is None and isinstance(node, ast.Attribute):
        held_by = written_at(facts, loop, names, node.value)  # a method's `self` is the loop's model
        written = f"{held_by}.{node.attr}" if held_by else None
    return written


def _of_same_class(loop: StepLoop, names: Names, node: ast.Attribute) -> str | None:
    """`self.model`, in another method of the same class."""
    here, there = names.function(node), names.function(loop.statement)
    if here is None or there is None:
        return None
    owners = {names.parents.get(method) for method in (here, there)}
    firsts = {method.args.args[0].arg for method in (here, there) if method.args.args}
    same = len(owners) == 1 and isinstance(next(iter(owners)), ast.ClassDef) and len(firsts) == 1
    head = node.value
    return names.source.segment(node) if same and isinstance(head, ast.Name) and head.id in firsts else None
