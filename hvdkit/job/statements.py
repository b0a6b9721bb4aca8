"""What each statement of Python does."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Callable

from hvdkit.job.arguments import Arguments
from hvdkit.job.columns import Value, columns, lift
from hvdkit.job.containers import extend, make_tuple
from hvdkit.job.escapes import is_of_library
from hvdkit.job.expressions import operate
from hvdkit.job.functions import LEFT, RESULT
from hvdkit.job.imports import import_from, import_modules
from hvdkit.job.loops import leave_loop, run_for, run_while
from hvdkit.job.machine import Machine
from hvdkit.job.names import assign, bind
from hvdkit.job.patterns import run_match
from hvdkit.job.special import truth_of
from hvdkit.job.store import Frame
from hvdkit.job.terms import Term
from hvdkit.job.trying import run_try, run_with
from hvdkit.library import effect
from hvdkit.library.effects import OnFirst

DESCRIPTORS = {
    "property": "property",
    "functools.cached_property": "property",
    "staticmethod": "static",
    "classmethod": "of class",
}
CALLED = ("atexit.register",)  # what registers a function that is called


def _function(machine: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    given = [*node.args.defaults, *(default for default in node.args.kw_defaults if default)]
    defaults = make_tuple(machine, [machine.evaluate(default) for default in given])
    value = lift(lambda kept: machine.terms.make("function", node, machine.frame, kept), defaults)
    for decorator in reversed(node.decorator_list):
        value = _decorated(machine, decorator, value)
    bind(machine, node.name, value)


def _decorated(machine: Machine, node: ast.expr, value: Value) -> Value:
    """What a decorator makes of a function or class."""
    if isinstance(node, ast.Attribute) and node.attr in ("setter", "getter", "deleter"):
        return _with_setter(machine, node, value)
    decorator = machine.evaluate(node)
    if isinstance(decorator, Term) and decorator.kind == "call":
        machine.record.handed.update(columns(value))
        return value  # a library's, with arguments
    name = str(decorator.parts[0]) if isinstance(decorator, Term) and decorator.kind == "library" else ""
    if isinstance(effect(name), OnFirst):
        machine.only_first.update(term.parts[0] for term in columns(value) if term.kind == "function")
        return value
    if name in DESCRIPTORS:
        return lift(lambda term: machine.terms.make(DESCRIPTORS[name], term), value)
    if name and name not in CALLED:
        machine.record.handed.update(columns(value))
        return value  # a library's: what it gives calls the function
    return machine.call(decorator, Arguments([value]), node)


def _with_setter(machine: Machine, node: ast.Attribute, value: Value) -> Value:
    """`@name.setter`: the property with what sets it."""
    held = machine.evaluate(node.value)

    def of(term: Term, setter: Term) -> Term:
        if node.attr == "setter" and term.kind == "property":
            return machine.terms.make("property", term.parts[0], setter)
        return term

    return lift(of, held, value)


def _class(machine: Machine, node: ast.ClassDef) -> None:
    bases = make_tuple(machine, [machine.evaluate(base) for base in node.bases])
    outer = machine.frame
    frame = Frame(outer.module, outer, node, machine.gate)
    value = lift(lambda kept: machine.terms.make("class", node, frame, kept), bases)
    machine.store.put((frame, ":class"), value)
    machine.frame = frame
    machine.execute(node.body)
    machine.frame = outer
    machine.record.handed.update(each for each in columns(value) if is_of_library(each))
    for decorator in reversed(node.decorator_list):
        made = _decorated(machine, decorator, value)
        value = made if _is_class(made) else value
    bind(machine, node.name, value)


def _is_class(value: Value) -> bool:
    """Whether a decorator gave a class; one that wraps it in something unknown is read as the class."""
    return isinstance(value, Term) and value.kind in ("class", "function", "either")


def _expression(machine: Machine, node: ast.Expr) -> None:
    machine.evaluate(node.value)


def _assign(machine: Machine, node: ast.Assign) -> None:
    value = machine.evaluate(node.value)
    for target in node.targets:
        assign(machine, target, value)


def _annotated(machine: Machine, node: ast.AnnAssign) -> None:
    if node.value is not None:
        assign(machine, node.target, machine.evaluate(node.value))


def _augmented(machine: Machine, node: ast.AugAssign) -> None:
    value = machine.evaluate(node.value)
    before = machine.evaluate(_read(node.target))
    if isinstance(node.op, ast.Add) and isinstance(before, Term) and before.kind == "list":
        extend(machine, before, value)
        return
    kind = type(node.op)
    assign(machine, node.target, operate(machine, node, kind, before, value))


def _read(target: ast.expr) -> ast.expr:
    """The target of an augmented assignment is read by the same code."""
    return target


def _if(machine: Machine, node: ast.If) -> None:
    test = truth_of(machine, machine.evaluate(node.test), node.test)
    machine.fork(test, lambda: machine.execute(node.body), lambda: machine.execute(node.orelse), node.test)


def _return(machine: Machine, node: ast.Return) -> None:
    value = machine.evaluate(node.value) if node.value else machine.terms.none
    frame = machine.frame
    machine.write((frame, RESULT), value)
    if (frame, LEFT) in frame.jumps:
        machine.jump((frame, LEFT))


def _raise(machine: Machine, node: ast.Raise) -> None:
    if node.exc is not None:
        machine.evaluate(node.exc)
    machine.throw()


def _assert(machine: Machine, node: ast.Assert) -> None:
    test = truth_of(machine, machine.evaluate(node.test), node.test)
    machine.fork(test, lambda: None, machine.throw)


def _delete(machine: Machine, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            assign(machine, target, machine.terms.unset)


def _global(machine: Machine, node: ast.Global) -> None:
    for name in node.names:
        machine.frame.elsewhere[name] = machine.frame.top


def _nonlocal(machine: Machine, node: ast.Nonlocal) -> None:
    for name in node.names:
        frame = machine.frame.outer
        while frame is not None and (frame.is_class or name not in frame.bound):
            frame = frame.outer
        if frame is not None:
            machine.frame.elsewhere[name] = frame


def _nothing(machine: Machine, node: ast.stmt) -> None:
    """`pass`, and aliases of types."""


STATEMENTS: Mapping[type, Callable[..., None]] = {
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.If: _if,
    ast.For: run_for,
    ast.AsyncFor: run_for,
    ast.While: run_while,
    ast.Break: leave_loop,
    ast.Continue: leave_loop,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Delete: _delete,
    ast.Global: _global,
    ast.Nonlocal: _nonlocal,
    ast.Import: import_modules,
    ast.ImportFrom: import_from,
    ast.With: run_with,
    ast.AsyncWith: run_with,
    ast.Try: run_try,
    ast.Pass: _nothing,
    **{
        getattr(ast, name): run
        for name, run in (("Match", run_match), ("TryStar", run_try), ("TypeAlias", _nothing))
        if hasattr(ast, name)
    },
}
