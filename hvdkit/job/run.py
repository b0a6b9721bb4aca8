"""Run a program on paper, from the file that is started."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager

from hvdkit.job.arguments import Arguments
from hvdkit.job.columns import Value
from hvdkit.job.escapes import escaped
from hvdkit.job.expressions import EXPRESSIONS
from hvdkit.job.fields import call_fields
from hvdkit.job.functions import call_bound, call_class, call_function, call_object, call_partial
from hvdkit.job.imports import run_module
from hvdkit.job.libraries import call_library, call_made, compile_later, decorate, unknown
from hvdkit.job.machine import STEPS_OF_A_LINE, TERMS_OF_A_LINE, Call, CannotFollow, Find, Machine
from hvdkit.job.methods import call_alike, call_method
from hvdkit.job.randomness import start
from hvdkit.job.record import Record
from hvdkit.job.statements import STATEMENTS
from hvdkit.job.store import Module
from hvdkit.job.terms import Term, TooMuch
from hvdkit.job.training import TRACE, check_weights, loaded
from hvdkit.job.uncalled import call_uncalled

ENOUGH = 10  # lines that an expression alone may cost
SPARE = 5  # functions that nobody calls may cost so much less: each program runs those of its files again


class Run:
    """A program that was run, and its record."""

    def __init__(self, entry: Module, find: Find) -> None:
        """Raises: CannotFollow.

        find: the module of the program that an import in a module means; None for a library's.
        """
        self._machine = machine = Machine(STATEMENTS, EXPRESSIONS, CALLS, call_alike, find)
        self.record = machine.record
        machine.frame = entry.frame
        start(machine)
        machine.modules[entry.name] = entry
        machine.started.add(entry.name)
        with _bounded():
            run_module(machine, entry, "__main__")
            _end(machine)

    def functions_of(self, module: Module) -> Record:
        """What the functions of a module do that the program did not call. Raises: CannotFollow.

        Something that is not known may call them, with anything: those below, which may call others, first.
        """
        machine = self._machine
        machine.record = record = Record(places=self.record.places)
        machine.path = machine.gate = machine.terms.true
        machine.assumed = {}
        machine.budget = machine.terms.left = 0  # what the program left is not for these
        with _bounded():
            if module.name not in machine.started:
                machine.modules[module.name] = module
                machine.started.add(module.name)
                run_module(machine, module, module.name)
            machine.frame = module.frame
            machine.allow(module.tree)
            machine.budget, machine.terms.left = machine.budget // SPARE, machine.terms.left // SPARE
            call_uncalled(machine, module.frame, self.record.ran)
        return record


@contextmanager
def _bounded() -> Iterator[None]:
    """Raises: CannotFollow, where a run takes too long."""
    try:
        yield
    except TooMuch:
        raise CannotFollow(None, "the run takes too long") from None


def run(entry: Module, find: Find) -> Record:
    """The record of a program, as of Run. Raises: CannotFollow."""
    return Run(entry, find).record


def constant_of(node: ast.expr, known: Mapping[str, Hashable]) -> Hashable:
    """The value of an expression of these names, if it is a constant; else None."""
    text = ast.Module(body=[ast.Expr(node)], type_ignores=[])
    machine = Machine(STATEMENTS, EXPRESSIONS, CALLS, call_alike, lambda name, importer: None)
    machine.frame = Module("", "", text).frame
    machine.budget, machine.terms.left = STEPS_OF_A_LINE * ENOUGH, TERMS_OF_A_LINE * ENOUGH
    for name, value in known.items():
        machine.write((machine.frame, name), machine.terms.const(value))
    try:
        found = machine.evaluate(node)
    except (CannotFollow, TooMuch):
        return None
    return found.parts[0] if isinstance(found, Term) and found.kind == "const" else None


def _end(machine: Machine) -> None:
    """What is there at the end of a run."""
    machine.record.trace = machine.store.values.get(TRACE)
    machine.record.loaded += loaded(machine)
    machine.record.escaped |= escaped(machine)
    for part in {**machine.trained, **machine.copies}:
        check_weights(machine, part)


def _call_any(machine: Machine, term: Term, given: Arguments, site: ast.AST) -> Value:
    """Call one of several: each of them may be called."""
    key, *candidates = term.inner
    found = []
    for candidate in candidates:
        with machine.maybe(site, "chosen", key, candidate):
            found.append(machine.call(candidate, given, site))
    return machine.site("call", site, term, *given) if found else machine.terms.none


CALLS: dict[str, Call] = {
    "function": call_function,
    "bound": call_bound,
    "partial": call_partial,
    "class": call_class,
    "object": call_object,
    "fields": call_fields,
    "made": call_made,
    "library": call_library,
    "decorator": decorate,
    "compiler": compile_later,
    "attribute": call_method,
    "any": _call_any,
    "": unknown,
}

__all__ = ["CannotFollow", "Module", "Run", "run"]
