"""Imports: the program's own modules are run when they are first imported; libraries are names."""

from __future__ import annotations

import ast

from hvdkit.job.columns import Value
from hvdkit.job.machine import Machine
from hvdkit.job.names import bind
from hvdkit.job.store import Frame, Module
from hvdkit.job.terms import Term


def import_modules(machine: Machine, node: ast.Import) -> None:
    """`import a.b`, `import a.b as c`."""
    for alias in node.names:
        value = _imported(machine, alias.name)
        first = alias.name.partition(".")[0]
        if alias.asname is not None:
            bind(machine, alias.asname, value)
        else:
            bind(machine, first, value if first == alias.name else _imported(machine, first))


def import_from(machine: Machine, node: ast.ImportFrom) -> None:
    """`from a import b`."""
    name = "." * node.level + (node.module or "")
    holder = _imported(machine, name)
    for alias in node.names:
        if alias.name == "*":
            if holder.kind == "module":
                _all_of(machine, holder)
            continue
        bind(machine, alias.asname or alias.name, _member(machine, name, holder, alias.name))


def _member(machine: Machine, name: str, holder: Term, member: str) -> Value:
    if holder.kind == "library":
        own = (
            _imported(machine, f"{name}{'' if name.endswith('.') else '.'}{member}")
            if name.startswith(".")
            else None
        )
        if own is not None and own.kind == "module":
            return own
        return machine.terms.make("library", f"{holder.parts[0]}.{member}".lstrip("."))
    frame = holder.parts[0]
    assert isinstance(frame, Frame)
    found = machine.read((frame, member))
    if found is not None:
        return found
    inside = _imported(machine, f"{name}{'' if name.endswith('.') else '.'}{member}")
    return inside if inside.kind == "module" else machine.terms.make("attribute", member, holder)


def _all_of(machine: Machine, holder: Term) -> None:
    """`from a import *`."""
    frame = holder.parts[0]
    assert isinstance(frame, Frame)
    for name in [*frame.bound]:
        value = machine.read((frame, name))
        if value is not None and not name.startswith("_"):
            bind(machine, name, value)


def _imported(machine: Machine, name: str) -> Term:
    """The module of a name, which runs if nothing imported it before; a library's is its name."""
    module = machine.find(name, machine.frame.module)
    if module is None:
        return machine.terms.make("library", name.lstrip("."))
    if machine.modules.setdefault(module.name, module) is module and module.name not in machine.started:
        machine.started.add(module.name)
        run_module(machine, module, module.name)
    return machine.terms.make("module", machine.modules[module.name].frame)


def run_module(machine: Machine, module: Module, name: str) -> None:
    """Run the statements of a module. name: its `__name__`."""
    caller = getattr(machine, "frame", None)
    loops, machine.loops = machine.loops, ()
    machine.frame = module.frame
    module.frame.gate = machine.gate
    machine.allow(module.tree)
    machine.record.ran.add(module.tree)
    machine.store.put((module.frame, "__name__"), machine.terms.const(name))
    machine.execute(module.tree.body)
    machine.loops = loops
    if caller is not None:
        machine.frame = caller
