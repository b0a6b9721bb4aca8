"""Options of a command line: what a parser puts into a namespace that it is given."""

from __future__ import annotations

import ast

from hvdkit.job.arguments import Arguments
from hvdkit.job.attributes import class_of, lineage
from hvdkit.job.columns import Value, columns, lift
from hvdkit.job.container_methods import Method
from hvdkit.job.containers import make_tuple
from hvdkit.job.libraries import unknown
from hvdkit.job.machine import Machine
from hvdkit.job.store import Frame
from hvdkit.job.terms import Term

ANY = ""  # an option whose name is not known


def _add(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    """`parser.add_argument("--rate", dest="lr")`."""
    named = given.named.get("dest")
    flags = [named] if named is not None else given.positional
    texts = [str(flag.parts[0]) for flag in flags if isinstance(flag, Term) and flag.kind == "const"]
    long = next((text for text in texts if text.startswith("--")), texts[0] if texts else ANY)
    machine.options.add(long.lstrip("-").replace("-", "_"))
    return unknown(machine, machine.terms.make("attribute", "add_argument", holder), given, site)


def _set_defaults(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    """`parser.set_defaults(rank=rank)`."""
    if given.more:
        machine.options.add(ANY)
    machine.defaults.update(given.named)
    return machine.terms.none


def _parse(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    """`parser.parse_args(namespace=namespace)`: the namespace, with what the command line says."""
    callee = machine.terms.make("attribute", "parse_args", holder)
    space = given.get(1, "namespace")
    if space is None or space is machine.terms.none:
        space = unknown(machine, callee, given, site)
    for term in {*columns(space)}:
        names = dict.fromkeys([*machine.members.get(term, ()), *_of_class(term), *machine.defaults])
        for name in names:
            _put(machine, term, name, site)
    return space


def _parse_known(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    """`parser.parse_known_args()`: the namespace, and the rest."""
    return make_tuple(machine, [_parse(machine, holder, given, site), machine.site("rest", site)])


def _of_class(term: Term) -> list[str]:
    """The names that the class of a namespace gives it."""
    classes = lineage(class_of(term)) if term.kind == "object" else ()
    frames = [cls.parts[1] for cls in classes if cls.kind == "class"]
    return [name for frame in frames if isinstance(frame, Frame) for name in frame.bound]


def _put(machine: Machine, space: Term, name: str, site: ast.AST) -> None:
    """Give a namespace an option: the command line's, where it has one, else what is there, or a default."""
    before = machine.attribute(space, name)
    if before is None:
        before = machine.defaults.get(name, machine.terms.unset)
    if name in machine.options or ANY in machine.options:
        option = machine.site("option", site, machine.terms.const(name))
        passed = machine.site("passed", site, machine.terms.const(name))
        before = lift(machine.terms.either, passed, option, before)
    machine.set_attribute(space, name, before)


OPTIONS: dict[str, Method] = {
    "add_argument": _add,
    "set_defaults": _set_defaults,
    "parse_args": _parse,
    "parse_known_args": _parse_known,
}
