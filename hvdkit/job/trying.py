"""`try` and `with`."""

from __future__ import annotations

import ast
from contextlib import nullcontext
from typing import Callable

from hvdkit.job.arguments import Arguments
from hvdkit.job.attributes import bound, of_class
from hvdkit.job.columns import Value, lift
from hvdkit.job.functions import run_generator
from hvdkit.job.machine import Machine
from hvdkit.job.names import assign, bind
from hvdkit.job.store import Key
from hvdkit.job.terms import Term

SUPPRESS = "contextlib.suppress"


def run_try(machine: Machine, node: ast.Try) -> None:
    """Run the body; the handlers in the processes that an error ended, or as a way that may be taken."""
    terms, risks, entered = machine.terms, machine.risks, machine.path
    jumps = {key: machine.store.values[key] for key in machine.frame.jumps}
    with machine.catch(node) if node.handlers else nullcontext() as key:
        machine.execute(node.body)
    left = machine.path
    thrown = machine.read(key) or terms.false if key else terms.false
    raised = lift(lambda before, now: terms.truth(now is not before), entered, left)
    handled: Value = terms.false
    if node.handlers and raised is not terms.false:
        machine.path = lift(terms.both, entered, raised)
        _handle(machine, node.handlers)
        handled, machine.path = machine.path, left
    if machine.is_running:
        may_fail = bool(node.handlers) and machine.risks > risks
        fails = machine.site("fails", node) if may_fail else terms.false
        test = lift(lambda one, two: terms.chosen(one, terms.true, two), thrown, fails)
        machine.fork(test, lambda: _handle(machine, node.handlers), lambda: machine.execute(node.orelse))
    machine.path = lift(terms.either, raised, handled, machine.path)
    if node.finalbody:
        _finish(machine, node.finalbody, entered, jumps)


def _finish(machine: Machine, body: list[ast.stmt], entered: Value, jumps: dict[Key, Value]) -> None:
    """Run `finally` in all processes that came to the `try`; those that were leaving go on to leave."""
    store, frame, left = machine.store, machine.frame, machine.path
    gone = {key: store.values[key] for key in jumps}
    for key, value in jumps.items():
        store.put(key, value)
    machine.path = entered
    if frame.jumped:
        machine.close_gate(frame)
    machine.execute(body)
    for key, value in jumps.items():
        if store.values[key] is value:
            store.put(key, gone[key])
    machine.path = lift(lambda before, now, left: left if now is before else now, entered, machine.path, left)
    if frame.jumped:
        machine.close_gate(frame)


def _handle(machine: Machine, handlers: list[ast.ExceptHandler]) -> None:
    """Run one of the handlers."""
    handler, others = handlers[0], handlers[1:]

    def run() -> None:
        if handler.name:
            bind(machine, handler.name, machine.site("error", handler))
        machine.execute(handler.body)

    if not others:
        run()
    else:
        machine.fork(machine.site("fails", handler), run, lambda: _handle(machine, others))


def run_with(machine: Machine, node: ast.With | ast.AsyncWith) -> None:
    """Enter the managers, and run the body inside of them."""
    _within(machine, node, node.items, lambda: machine.execute(node.body))


def _within(machine: Machine, node: ast.AST, items: list[ast.withitem], run: Callable[[], None]) -> None:
    if not items:
        run()
        return
    item, others = items[0], items[1:]
    manager = machine.evaluate(item.context_expr)

    def body(value: Value) -> None:
        if item.optional_vars is not None:
            assign(machine, item.optional_vars, value)
        _within(machine, node, others, run)

    if _suppresses(manager):
        entered = machine.path
        with machine.catch(item):
            body(manager)
        machine.path = entered
    elif isinstance(manager, Term) and manager.kind == "generator":
        run_generator(machine, manager, node, body)
    elif isinstance(manager, Term) and manager.kind == "object":
        _enter(machine, manager, item.context_expr, body)
    else:
        body(manager)


def _suppresses(manager: Value) -> bool:
    """`contextlib.suppress(...)`."""
    return isinstance(manager, Term) and manager.kind == "call" and manager.inner[0].parts == (SUPPRESS,)


def _enter(machine: Machine, manager: Term, site: ast.AST, body: Callable[[Value], None]) -> None:
    """`__enter__`, the body, `__exit__`."""
    value: Value = manager
    entering = of_class(machine, manager.inner[0], "__enter__")
    if entering is not None:
        value = machine.each(
            entering, lambda member: machine.call(bound(machine, member, manager, site), Arguments([]), site)
        )
    body(value)
    leaving = of_class(machine, manager.inner[0], "__exit__")
    if leaving is not None and machine.is_running:
        none = machine.terms.none
        given = Arguments([none, none, none])
        machine.each(leaving, lambda member: machine.call(bound(machine, member, manager, site), given, site))
