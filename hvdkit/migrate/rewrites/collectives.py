"""How a call of torch.distributed is turned into Horovod's: in place, or by assigning what Horovod returns.

Used by the rules HVD501 and up; which call may be turned is decided in facts/collectives/collectives.py.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Union

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.collectives.collectives import Collective
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

Part = Union[str, ast.expr]
_ATOMS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.List, ast.ListComp)


def in_place(facts: Facts, call: Collective, verb: str, tensor: ast.expr, how: Sequence[Part]) -> list[Edit]:
    """`hvd.verb_(tensor, how)`, or `hvd.verb_async_` where the handle is kept, with the waits on it."""
    source, hvd = call.names.source, horovod_name(facts, call.names)
    arguments = [tensor, *how, *process_set(call), ")"]
    if call.waits is None or not _keeps_handle(call):
        return edits.recast(source, call.whole, [f"{hvd}.{verb}_(", *arguments])
    made = edits.recast(source, call.node, [f"{hvd}.{verb}_async_(", *arguments])
    for wait in call.waits:
        assert isinstance(wait.func, ast.Attribute)
        asked = "synchronize" if wait.func.attr == "wait" else "poll"
        made += edits.recast(source, wait, [f"{hvd}.{asked}(", wait.func.value, ")"])
    return made


def reduced(facts: Facts, call: Collective, operation: str | None) -> list[Edit]:
    """An all_reduce or reduce as `hvd.allreduce_`; operation: None where the reduction is passed on."""
    hvd = horovod_name(facts, call.names)
    how: list[Part] = [f", op={hvd}.{operation}"] if operation else [", op=", call.given["op"]]
    return in_place(facts, call, "allreduce", call.given["tensor"], how)


def reduced_copy(facts: Facts, call: Collective, operation: str) -> list[Edit]:
    """An all_reduce of small integers: a copy in four bytes is reduced, and copied back."""
    tensor, hvd = call.given["tensor"], horovod_name(facts, call.names)
    how = [f".int(), op={hvd}.{operation}", *process_set(call), "))"]
    return edits.recast(call.names.source, call.whole, [tensor, f".copy_({hvd}.allreduce(", tensor, *how])


def at_once(call: Collective, parts: Sequence[Part]) -> list[Edit]:
    """Parts in place of the call, its handle gone with every wait on it. Raises CannotEdit.

    For collectives whose result Horovod returns: what is there after the wait in torch is there at once.
    """
    source = call.names.source
    edits.own_lines(source, call.statement)
    if call.in_tuple:
        raise edits.CannotEdit("it is in the same statement as others")
    made = edits.recast(source, call.whole, parts, call.statement)
    for wait in call.waits or ():
        statement = call.names.statement(wait)
        if statement is call.statement:
            continue
        if not isinstance(statement, ast.Expr):
            raise edits.CannotEdit("its handle is polled")
        made.append(edits.delete(call.names, statement))
    return made


def process_set(call: Collective) -> list[Part]:
    """The argument that names the group, where it is not the world."""
    return [] if call.group is None else [", process_set=", call.group]


def atom(node: ast.expr) -> list[Part]:
    """A node as an operand: in parentheses where an attribute of it would bind otherwise."""
    return [node] if isinstance(node, _ATOMS) else ["(", node, ")"]


def detached(names: Names, node: ast.expr) -> list[Part]:
    """A tensor without its history: Horovod's gathers are differentiable, torch.distributed's are not."""
    return atom(node) if _without_gradients(names, node) else [*atom(node), ".detach()"]


def same_again(node: ast.expr) -> bool:
    """Whether an expression may be evaluated a second time: a variable, an attribute or an item of one."""
    if isinstance(node, ast.Subscript):
        return same_again(node.value) and isinstance(node.slice, (ast.Constant, ast.Name))
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and same_again(node.value))


def fresh(names: Names, wanted: str) -> str:
    """A variable name that the file does not use."""
    while wanted in names.uses:
        wanted += "_"
    return wanted


def under(names: Names, statement: ast.stmt) -> str:
    """Line break and indentation of a body below a statement."""
    source = names.source
    return source.newline + source.indent(source.line_at(source.start(statement))) + source.unit


def _keeps_handle(call: Collective) -> bool:
    own_wait = any(getattr(wait.func, "value", None) is call.node for wait in call.waits or ())
    return not own_wait and not isinstance(call.names.parents[call.node], ast.Expr)


def _without_gradients(names: Names, node: ast.AST) -> bool:
    """Whether a node stands under torch.no_grad or torch.inference_mode, as a block or a decorator."""
    for parent in names.ancestors(node):
        around: list[ast.expr] = []
        if isinstance(parent, (ast.With, ast.AsyncWith)):
            around = [item.context_expr for item in parent.items]
        elif isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
            around = parent.decorator_list
        for expression in around:
            called = expression.func if isinstance(expression, ast.Call) else expression
            if {"torch.no_grad", "torch.inference_mode"} & set(names.qualified(called)):
                return True
    return False
