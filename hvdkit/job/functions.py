"""Calls of the program's own functions and classes: arguments are bound, and the body is run."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Callable, Union

from hvdkit.job.arguments import Arguments
from hvdkit.job.attributes import bound, of_class
from hvdkit.job.columns import Value, lift
from hvdkit.job.containers import KEYS, make_tuple, new, set_item
from hvdkit.job.fields import set_fields
from hvdkit.job.machine import Machine
from hvdkit.job.processes import number
from hvdkit.job.store import Frame
from hvdkit.job.terms import Term
from hvdkit.job.training import statistics

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda]
RESULT, LEFT = ":result", ":left"
AT_MOST = 2  # calls of one function inside of itself that are run: recursion


def call_function(machine: Machine, term: Term, given: Arguments, site: ast.AST) -> Value:
    """Call a function of the program."""
    node, outer, defaults = term.parts
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    assert isinstance(outer, Frame) and isinstance(defaults, Term)
    if machine.running.count(node) >= AT_MOST:
        return _result_of_unknown(machine, "recursion", term, given, site)
    if _is_generator(machine, node):
        return machine.terms.make("generator", term, _kept(machine, given, site))
    if node in machine.only_first:
        is_first = lift(lambda rank: machine.terms.truth(rank.parts[0] == 0), number(machine, "rank"))
        return machine.choose(
            is_first, lambda: run_function(machine, term, given, site, None), lambda: machine.terms.none
        )
    return run_function(machine, term, given, site, None)


def run_function(
    machine: Machine, term: Term, given: Arguments, site: ast.AST, receive: Callable[[Value], None] | None
) -> Value:
    """Run the body of a function; receive: what gets the values that a generator yields."""
    node, outer, defaults = term.parts
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    assert isinstance(outer, Frame) and isinstance(defaults, Term)
    machine.record.ran.add(node)
    frame = Frame(outer.module, outer, node, machine.gate)
    frame.jumps = [*machine.catching, (frame, LEFT)]
    machine.store.put((frame, LEFT), machine.terms.false)
    machine.store.put((frame, RESULT), machine.terms.none)
    frame.receive = receive
    _bind(machine, frame, node, defaults, given, site)
    return _in_frame(machine, frame, site, lambda: _body(machine, frame, node))


def _body(machine: Machine, frame: Frame, node: Function) -> Value:
    if isinstance(node, ast.Lambda):
        return machine.evaluate(node.body)
    machine.execute(node.body)
    return machine.read((frame, RESULT)) or machine.terms.none


def _in_frame(machine: Machine, frame: Frame, site: ast.AST, run: Callable[[], Value]) -> Value:
    """Run something as the code of a frame, and come back."""
    caller, context, running, gate, assumed = (
        machine.frame,
        machine.context,
        machine.running,
        machine.gate,
        machine.assumed,
    )
    machine.frame = frame
    machine.context = machine.terms.make("within", site, context)
    if frame.node is not None:
        machine.running = (*running, frame.node)
    try:
        return run()
    finally:
        machine.frame, machine.context, machine.running = caller, context, running
        machine.gate, machine.assumed = gate, assumed
        # What an error ended here is ended there, too, unless it is caught on the way.
        caller.jumped = caller.jumped or (frame.jumped and bool(machine.catching))


def _bind(
    machine: Machine, frame: Frame, node: Function, defaults: Term, given: Arguments, site: ast.AST
) -> None:
    """Give the parameters of a function their values."""
    parameters = node.args
    put = machine.store.put
    names = [each.arg for each in (*parameters.posonlyargs, *parameters.args)]
    with_default = [*names[len(names) - len(parameters.defaults) :]]
    with_default += [
        each.arg for each, default in zip(parameters.kwonlyargs, parameters.kw_defaults) if default
    ]
    for name, value in zip(with_default, defaults.inner):
        put((frame, name), value)
    for name, given_value in zip(names, given.positional):
        put((frame, name), given_value)
    others = {}
    known = {*names, *(each.arg for each in parameters.kwonlyargs)}
    for name, given_value in given.named.items():
        if name in known:
            put((frame, name), given_value)
        else:
            others[name] = given_value
    if parameters.vararg:
        rest = make_tuple(machine, given.positional[len(names) :])
        put((frame, parameters.vararg.arg), machine.site("rest", site) if given.more else rest)
    if parameters.kwarg:
        held = new(machine, "dict", parameters.kwarg)
        put((held, KEYS), machine.site("rest", site) if given.more else machine.terms.make("tuple"))
        for name, given_value in others.items():
            set_item(machine, held, machine.terms.const(name), given_value)
        put((frame, parameters.kwarg.arg), held)
    for name in known:
        frame.bound[name] = None
        if (frame, name) not in machine.store.values:
            put((frame, name), machine.site("parameter", node))


def _kept(machine: Machine, given: Arguments, site: ast.AST) -> Term:
    """Arguments that are remembered until something runs."""
    kept = machine.terms.make("arguments", site, machine.context, len(given.positional))
    for name, value in (*enumerate(given.positional), *given.named.items()):
        machine.write((kept, name), value)
    machine.members[kept] = dict.fromkeys(given.named)
    return kept


def _remembered(machine: Machine, kept: Term) -> Arguments:
    """The arguments that were kept."""
    count = kept.parts[2]
    assert isinstance(count, int)
    unset = machine.terms.unset
    positional = [machine.read((kept, place)) or unset for place in range(count)]
    named = {name: machine.read((kept, name)) or unset for name in machine.members[kept]}
    return Arguments(positional, named)


def run_generator(machine: Machine, term: Term, site: ast.AST, receive: Callable[[Value], None]) -> None:
    """Run a generator to its end."""
    function, kept = term.inner
    caller = machine.frame
    if function.parts[0] in machine.running:
        return

    def received(value: Value) -> None:
        own, gate, assumed = machine.frame, machine.gate, machine.assumed
        machine.frame = caller
        receive(value)
        own.jumped = own.jumped or (caller.jumped and bool(machine.catching))
        machine.frame, machine.gate, machine.assumed = own, gate, assumed

    run_function(machine, function, _remembered(machine, kept), site, received)


def _is_generator(machine: Machine, node: Function) -> bool:
    """Whether a function has a `yield` of its own."""
    if isinstance(node, ast.Lambda):
        return False
    if node not in machine.generators:
        machine.generators[node] = _yields(node.body)
    return machine.generators[node]


def _yields(body: Sequence[ast.AST]) -> bool:
    """Whether one of these statements, or one inside of it, gives or takes the value of a `yield`."""
    waiting = [*body]
    while waiting:
        part = waiting.pop()
        if isinstance(getattr(part, "value", None), (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for name in ("body", "orelse", "handlers", "finalbody", "cases"):
                waiting += getattr(part, name, ())
    return False


def _result_of_unknown(machine: Machine, kind: str, term: Term, given: Arguments, site: ast.AST) -> Value:
    return machine.site(kind, site, term, *given)


def call_bound(machine: Machine, term: Term, given: Arguments, site: ast.AST) -> Value:
    """Call a method of an object."""
    function, holder = term.inner
    return machine.call(function, given.behind(holder), site)


def call_partial(machine: Machine, term: Term, given: Arguments, site: ast.AST) -> Value:
    """Call what functools.partial gave."""
    function, kept = term.inner
    before = _remembered(machine, kept)
    named = {**before.named, **given.named}
    return machine.call(function, Arguments([*before.positional, *given.positional], named, given.more), site)


def make_partial(machine: Machine, given: Arguments, site: ast.AST) -> Value:
    """`functools.partial(function, ...)`."""
    kept = _kept(machine, Arguments(given.positional[1:], given.named), site)
    return lift(lambda function: machine.terms.make("partial", function, kept), given.positional[0])


def call_class(machine: Machine, term: Term, given: Arguments, site: ast.AST) -> Value:
    """Make an object of a class of the program."""
    made = machine.terms.make("object", term, site, machine.context)
    machine.members.setdefault(made, {})
    init = of_class(machine, term, "__init__")
    if init is not None:
        machine.each(init, lambda member: machine.call(bound(machine, member, made, site), given, site))
    else:
        machine.set_attribute(made, ":arguments", make_tuple(machine, [*given]))
        set_fields(machine, term, made, given, site)
        behind = of_class(machine, term, "__post_init__")
        if behind is not None:
            machine.each(
                behind, lambda member: machine.call(bound(machine, member, made, site), Arguments([]), site)
            )
    return made


def call_object(machine: Machine, term: Term, given: Arguments, site: ast.AST) -> Value:
    """Call an object: its `__call__`, or a term: the forward pass of a model is not run."""
    own = of_class(machine, term.parts[0], "__call__") if isinstance(term.parts[0], Term) else None
    if own is not None:
        return machine.each(own, lambda member: machine.call(bound(machine, member, term, site), given, site))
    return machine.site("call", site, term, *given, *statistics(machine, term))


def call_super(machine: Machine, term: Term, given: Arguments, site: ast.AST) -> Value:
    """`super()`: the class whose method is run, and the object that it runs for."""
    frame: Frame | None = machine.frame
    while frame is not None and (frame.outer is None or not frame.outer.is_class):
        frame = frame.outer
    if frame is None or not isinstance(frame.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return machine.site("call", site, term)
    names = [each.arg for each in (*frame.node.args.posonlyargs, *frame.node.args.args)]
    instance = machine.read((frame, names[0])) if names else None
    cls = machine.read((frame.outer, ":class"))
    if instance is None or not isinstance(cls, Term):
        return machine.site("call", site, term)
    return lift(lambda part: machine.terms.make("super", cls, part), instance)
