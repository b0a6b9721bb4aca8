"""What happens to the handle of an asynchronous collective: every wait on it, or None when one may be missed.

Followed: `work = call; ... work.wait()`, `call.wait()`, and a list that handles are appended to, from a
variable or not, and whose elements are waited for in a loop or comprehension. What goes anywhere else is not.
"""

from __future__ import annotations

import ast

from hvdkit.migrate.edits import block, following
from hvdkit.source.index.names import Binding, Names, Scope

QUESTIONS = ("wait", "is_completed")


def handle_waits(names: Names, call: ast.Call) -> list[ast.Call] | None:
    """The `.wait()` and `.is_completed()` calls on a call's handle; None when a use is not understood."""
    parent = names.parents.get(call)
    if isinstance(parent, ast.Expr):
        return []
    direct = _question(names, call)
    if direct is not None:
        return [direct]
    if (
        isinstance(parent, ast.Assign)
        and len(parent.targets) == 1
        and isinstance(parent.targets[0], ast.Name)
    ):
        return _of_name(names, parent.targets[0])
    if (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Attribute)
        and parent.func.attr == "append"
    ):
        if isinstance(parent.func.value, ast.Name) and isinstance(names.parents.get(parent), ast.Expr):
            return _of_list(names, parent.func.value)
    return None


def _question(names: Names, handle: ast.expr) -> ast.Call | None:
    """The call `handle.wait()` around a handle, with no arguments and its result unused when it is wait."""
    attribute = names.parents.get(handle)
    if not isinstance(attribute, ast.Attribute) or attribute.attr not in QUESTIONS:
        return None
    call = names.parents.get(attribute)
    if not isinstance(call, ast.Call) or call.func is not attribute or call.args or call.keywords:
        return None
    if attribute.attr == "wait" and not isinstance(names.parents.get(call), (ast.Expr, ast.ListComp)):
        return None
    return call


def _uses(names: Names, name: ast.Name) -> list[ast.Name]:
    owner = names.scope(name).owner(name.id)
    return [use for use in names.uses.get(name.id, ()) if names.scope(use).owner(name.id) is owner]


def _of_name(names: Names, target: ast.Name) -> list[ast.Call] | None:
    """The waits on the handle that a variable was given; the variable may hold others before and after."""
    kept = _kept_in(names, target)
    if kept is not None:
        return _of_list(names, kept)
    owner: Scope | None = names.scope(target).owner(target.id)
    bindings = owner.names[target.id] if owner else []
    same = len({_collective(names, binding.value) for binding in bindings} - {""}) == 1
    one_after_another = len({id(_block(names, binding.node)) for binding in bindings}) == 1
    if not all(_collective(names, binding.value) for binding in bindings) or not (same or one_after_another):
        return None
    found = []
    for use in _uses(names, target):
        if isinstance(use.ctx, ast.Store) or not (same or _latest(bindings, use) is target):
            continue
        question = _question(names, use)
        if question is None:
            return None
        found.append(question)
    return found


def _kept_in(names: Names, target: ast.Name) -> ast.Name | None:
    """The list that a variable only puts its handle into, in the next statement: `works.append(work)`."""
    below = following(names, names.statement(target))
    append = below.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Call) else None
    method = append.func if append is not None else None
    if (
        not isinstance(method, ast.Attribute)
        or method.attr != "append"
        or not isinstance(method.value, ast.Name)
    ):
        return None
    loops = [parent for use in _uses(names, method.value) if (parent := _loop_over(names, use)) is not None]
    for use in _uses(names, target):
        passed = append is not None and use in append.args
        if use is not target and not passed and not any(loop in names.ancestors(use) for loop in loops):
            return None
    return method.value


def _loop_over(names: Names, use: ast.Name) -> ast.For | None:
    """The loop that runs over a variable."""
    parent = names.parents[use]
    return parent if isinstance(parent, ast.For) and parent.iter is use else None


def _latest(bindings: list[Binding], use: ast.Name) -> ast.AST | None:
    """The binding above a use, where all of them follow one another in one block."""
    above = [b.node for b in bindings if getattr(b.node, "lineno", 0) < use.lineno]
    return max(above, key=lambda node: getattr(node, "lineno", 0), default=None)


def _block(names: Names, node: ast.AST) -> list[ast.stmt]:
    return block(names, names.statement(node))


def _of_list(names: Names, holder: ast.Name) -> list[ast.Call] | None:
    """The waits on the elements of a list that only handles of collectives are appended to."""
    found: list[ast.Call] = []
    for use in _uses(names, holder):
        parent = names.parents[use]
        if isinstance(use.ctx, ast.Store):
            empty = isinstance(parent, ast.Assign) and isinstance(parent.value, ast.List)
            if not empty or parent.value.elts:  # type: ignore[attr-defined]
                return None
        elif isinstance(parent, ast.Attribute) and parent.attr in ("append", "clear"):
            if parent.attr == "append" and not _appends_handle(names, parent):
                return None
        elif isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is use:
            if not isinstance(parent.target, ast.Name):
                return None
            around = [use for use in _uses(names, parent.target) if not _is_put_into(names, use, holder)]
            inside = [part for part in around if part is not parent.target]
            if any(isinstance(part.ctx, ast.Store) for part in inside):
                return None
            questions = [_question(names, part) for part in inside]
            if not questions or any(question is None for question in questions):
                return None
            found += [question for question in questions if question is not None]
        else:
            return None
    return found


def _appends_handle(names: Names, append: ast.Attribute) -> bool:
    """Whether what is appended is a handle that Horovod has, too: of an all_reduce or a broadcast."""
    call = names.parents.get(append)
    argument = call.args[0] if isinstance(call, ast.Call) and len(call.args) == 1 else None
    if isinstance(argument, ast.Name):  # the call is in the statement above
        bound = names.bindings(argument.id, argument)
        made = [binding.value for binding in bound if binding.kind == "assign"]
        return len(made) == 1 and _collective(names, made[0]) in ("all_reduce", "broadcast")
    return _collective(names, argument) in ("all_reduce", "broadcast")


def _is_put_into(names: Names, use: ast.Name, holder: ast.Name) -> bool:
    """Whether a variable is given a handle that goes into a list, or is put into it: `works.append(work)`."""
    if isinstance(use.ctx, ast.Store):
        kept = _kept_in(names, use) if isinstance(names.parents[use], ast.Assign) else None
        return kept is not None and kept.id == holder.id
    method = getattr(names.parents[use], "func", None)
    return (
        isinstance(method, ast.Attribute)
        and method.attr == "append"
        and getattr(method.value, "id", "") == holder.id
    )


def _collective(names: Names, node: ast.expr | None) -> str:
    """The name of the torch.distributed function that an expression calls, else ""."""
    called = names.qualified(node.func) if isinstance(node, ast.Call) else ()
    return next((name.rpartition(".")[2] for name in called if name.startswith("torch.distributed.")), "")
