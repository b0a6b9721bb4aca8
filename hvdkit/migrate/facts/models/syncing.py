"""Backward passes for which DDP is told not to reduce: no_sync() and require_backward_grad_sync.

For the migrated program the same is said to the optimizer: set_backward_passes_per_step(2) makes the next
backward leave the reduction to a later one, set_backward_passes_per_step(1) makes it reduce.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum

from hvdkit.dataclass import dataclass
from hvdkit.migrate.edits import CannotEdit
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.index.names import FUNCTIONS, Names

NO_SYNC = "no_sync"
SWITCH = "require_backward_grad_sync"
SETTER = "set_backward_passes_per_step"
REST = "2**31"  # passes after which an optimizer that is done would reduce: it never does again
RESTING = ast.dump(ast.parse(REST, mode="eval").body)

NOTHING = frozenset(("contextlib.nullcontext", "contextlib.suppress"))


class Sync(Enum):
    """Whether a backward pass reduces. TESTED: it depends on a test that the program makes."""

    ALWAYS = "always"
    TESTED = "tested"
    NEVER = "never"


def says_when(names: Names) -> bool:
    """Whether a file says anywhere which backward passes reduce."""
    return any(word in names.attributes for word in (NO_SYNC, SWITCH, SETTER, "accumulate"))


def sync_of(names: Names, call: ast.Call) -> Sync:
    """Whether the gradients that a call makes are reduced there."""
    child: ast.AST = call
    switches = SWITCH in names.attributes or SETTER in names.attributes
    for parent in names.ancestors(call):
        if isinstance(parent, (ast.With, ast.AsyncWith)) and child in parent.body:
            found = context_of(names, parent)
            if found is not Sync.ALWAYS:
                return found
        switched = _switched(names, parent, child) if switches else None
        if switched is not None:
            return switched
        if isinstance(parent, FUNCTIONS):
            break
        child = parent
    return Sync.ALWAYS


def context_of(names: Names, statement: ast.With | ast.AsyncWith) -> Sync:
    """What a `with` says of the backward passes in it."""
    said = (_context(names, item.context_expr) for item in statement.items)
    return next((sync for sync in said if sync is not Sync.ALWAYS), Sync.ALWAYS)


def steps_unreduced(names: Names, step: ast.Call) -> bool:
    """Whether a step stands in a `with` that says that passes do not reduce, under no test in there.

    DDP steps there by the gradients of each rank's own.
    """
    for parent in names.ancestors(step):
        if isinstance(parent, (*FUNCTIONS, ast.If)):
            return False
        if isinstance(parent, ast.With) and context_of(names, parent) is not Sync.ALWAYS:
            return True
    return False


def _context(names: Names, context: ast.expr) -> Sync:
    """What a context manager says: no_sync itself, a choice with it, or a variable that holds either."""
    called = context.func if isinstance(context, ast.Call) else context
    if isinstance(called, ast.Attribute) and called.attr == NO_SYNC:
        return Sync.NEVER
    if isinstance(context, ast.Call) and names.qualified(called) == ("hvdkit.torch.accumulate",):
        return Sync.NEVER if len(context.args) == 1 else Sync.TESTED
    if mention_in(context) is not None:
        return Sync.TESTED
    if isinstance(called, ast.Name):
        values = [binding.value for binding in names.bindings(called.id, called) if binding.value is not None]
        if any(mention_in(value) is not None for value in values):
            return Sync.TESTED
    return Sync.ALWAYS


def _switched(names: Names, parent: ast.AST, child: ast.AST) -> Sync | None:
    """What the last switch above a statement, in its own block, says."""
    for block in (getattr(parent, "body", None), getattr(parent, "orelse", None)):
        if not isinstance(block, list) or child not in block:
            continue
        for statement in reversed(block[: block.index(child)]):
            if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
                continue
            said = [sync for part in names.walk(statement) for sync in _said(part)]
            if said:
                plain = isinstance(statement, (ast.Expr, ast.Assign))
                return said[-1] if plain else Sync.TESTED
    return None


def _said(node: ast.AST) -> Iterator[Sync]:
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        if isinstance(target, ast.Attribute) and target.attr == SWITCH:
            value = node.value
            if isinstance(value, ast.Constant):
                yield Sync.ALWAYS if value.value else Sync.NEVER
            else:
                yield Sync.TESTED
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == SETTER:
        passes = node.args[0] if node.args else None
        if passes is not None and ast.dump(passes) == RESTING:
            return
        if isinstance(passes, ast.Constant):
            yield Sync.ALWAYS if passes.value == 1 else Sync.NEVER
        else:
            yield Sync.TESTED


@dataclass(frozen=True)
class Choice:
    """no_sync, or a choice with it. node: the whole expression; adds: when it is no_sync, empty for always.

    passes: the number of backward passes that says the same.
    """

    node: ast.expr
    adds: str = ""
    passes: str = "2"


def mention_in(node: ast.AST) -> ast.Attribute | None:
    """The first mention of no_sync in an expression."""
    every = (part for part in ast.walk(node) if isinstance(part, ast.Attribute))
    return next((part for part in every if part.attr == NO_SYNC), None)


def asks_for_it(node: ast.AST) -> bool:
    """Whether a node is hasattr(model, "no_sync"): whether DDP is there."""
    if not isinstance(node, ast.Call) or len(node.args) != 2 or not isinstance(node.func, ast.Name):
        return False
    return node.func.id == "hasattr" and getattr(node.args[1], "value", None) == NO_SYNC


def decides_here(names: Names, question: ast.Call) -> bool:
    """Whether the function that asks has a no_sync() of its own, whatever library the model comes from."""
    uses = (node for node in names.attributes.get(NO_SYNC, ()) if not handed_on(names, node))
    return any(names.function(node) is names.function(question) for node in uses)


def in_choice(names: Names, question: ast.Call) -> bool:
    """Whether hasattr(model, "no_sync") stands in a test that chooses no_sync() or lets it be handed on."""
    for parent in names.ancestors(question):
        if isinstance(parent, ast.IfExp) and any(_mentions(part) for part in (parent.body, parent.orelse)):
            return True
        if isinstance(parent, ast.If) and question in ast.walk(parent.test):
            mentions = [part for statement in parent.body for part in ast.walk(statement) if _mentions(part)]
            return any(isinstance(part, ast.Attribute) and handed_on(names, part) for part in mentions)
        if isinstance(parent, ast.stmt):
            break
    return False


def handed_on(names: Names, node: ast.Attribute) -> bool:
    """Whether a mention is `return model.no_sync()` in a method of that name which asks for it first.

    Without DDP such a method gives a context that does nothing: it is right as it is, and its callers are
    where no_sync() is used.
    """
    call = called(names, node)
    method = names.function(node)
    statement = names.parents[call]
    test = names.parents[statement]
    if getattr(method, "name", "") != NO_SYNC or not isinstance(statement, ast.Return):
        return False
    asked = isinstance(test, ast.If) and statement in test.body and _sure(test.test, node.value)
    others = [value for value in names.returns.get(method, ()) if value is not call] if method else []
    return asked and bool(others) and all(is_nothing(names, value) for value in others)


def for_ddp_only(names: Names, node: ast.Attribute) -> bool:
    """Whether a mention only runs where isinstance() has found the same model to be DDP's.

    Without DDP it never does: the `else` of `if sync or not isinstance(model, DDP):`.
    """
    child: ast.AST = node
    for parent in names.ancestors(node):
        if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test:
            body = parent.body if isinstance(parent.body, list) else [parent.body]
            if _wrapped_where(names, parent.test, node.value, child in body):
                return True
        if isinstance(parent, FUNCTIONS):
            break
        child = parent
    return False


def _wrapped_where(names: Names, test: ast.expr, model: ast.expr, outcome: bool) -> bool:
    """Whether a test has that outcome only for a model that is DDP's."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _wrapped_where(names, test.operand, model, not outcome)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is outcome:
        return any(_wrapped_where(names, part, model, outcome) for part in test.values)
    asks = isinstance(test, ast.Call) and getattr(test.func, "id", "") == "isinstance" and len(test.args) == 2
    if not asks or not outcome or ast.dump(test.args[0]) != ast.dump(model):  # type: ignore[attr-defined]
        return False
    kinds = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else [test.args[1]]  # type: ignore[attr-defined]
    return all(words.WRAPS & set(names.qualified(kind)) for kind in kinds)


def _sure(test: ast.expr, model: ast.expr) -> bool:
    """Whether a test asks for the model's no_sync(), and else only which object or None it is."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    asked = [part for part in parts if asks_for_it(part)]
    others = [part for part in parts if part not in asked]
    same = [part for part in asked if ast.dump(part.args[0]) == ast.dump(model)]  # type: ignore[attr-defined]
    return bool(same) and all(
        isinstance(part, ast.Compare) and all(isinstance(op, ast.IsNot) for op in part.ops) for part in others
    )


def choice_of(names: Names, node: ast.Attribute, several: str) -> Choice:
    """The expression around a mention of no_sync: its call, and an if/else with nullcontext.

    several: what says that there are several processes, as hasattr(model, "no_sync") said it.
    """
    whole: ast.expr = called(names, node)
    parent = names.parents[whole]
    if not isinstance(parent, ast.IfExp):
        return Choice(whole)
    other = parent.orelse if whole is parent.body else parent.body
    if not is_nothing(names, other):
        raise CannotEdit("the alternative to no_sync() is not nullcontext()")
    test = _answered(names, parent.test, several)
    if whole is parent.body:
        return Choice(called(names, parent), test, f"2 if {test} else 1")
    simple = isinstance(parent.test, (ast.Name, ast.Attribute, ast.Call))
    return Choice(called(names, parent), f"not {test}" if simple else f"not ({test})", f"1 if {test} else 2")


def _answered(names: Names, test: ast.expr, several: str) -> str:
    """A test as text, where hasattr(model, "no_sync") asked for DDP asking for several processes."""
    source = names.source
    text, position = "", source.start(test)
    for part in sorted((p for p in ast.walk(test) if asks_for_it(p)), key=source.start):
        text += source.text[position : source.start(part)] + several
        position = source.end(part)
    return text + source.text[position : source.end(test)]


def called(names: Names, node: ast.expr) -> ast.expr:
    """An expression, with its call if it is called."""
    parent = names.parents[node]
    return parent if isinstance(parent, ast.Call) and parent.func is node else node


def is_nothing(names: Names, node: ast.expr) -> bool:
    """Whether a context manager is nullcontext, called or not; a function of the file may give it."""
    called = node.func if isinstance(node, ast.Call) else node
    if NOTHING & set(names.qualified(called)):
        return True
    made = names.bindings(called.id, called) if called is not node and isinstance(called, ast.Name) else []
    results = [names.returns.get(binding.node, ()) for binding in made if binding.kind == "def"]
    given = results[0] if len(results) == 1 == len(made) else ()
    return bool(given) and all(is_nothing(names, result) for result in given)


def _mentions(node: ast.AST) -> bool:
    whole = node.func if isinstance(node, ast.Call) else node
    return isinstance(whole, ast.Attribute) and whole.attr == NO_SYNC
