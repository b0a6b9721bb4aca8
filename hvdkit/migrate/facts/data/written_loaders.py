"""How a loader is written at a loop over epochs, and which other loaders its variable may hold there."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.code.loops import Loop
from hvdkit.migrate.facts.data.epochs import epoch_loops
from hvdkit.migrate.facts.data.loaders import Loader, every_loader
from hvdkit.migrate.facts.data.loaders_of_phases import phase_trained
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.binding_order import last_binding
from hvdkit.migrate.values.handed_out import assigned_to
from hvdkit.migrate.values.spelling import attribute_holding, spelled
from hvdkit.migrate.values.value import Value


def loader_name_at(facts: Facts, loader: Loader, epoch: Loop) -> str | None:
    """A loader as it is written at the start of a loop over epochs, which does not make it."""
    name = spelled(facts.flow, epoch.names, epoch.node, [loader.value])
    return (
        _of_phase(facts, loader, epoch) or _inside(facts, loader, epoch, name) or _entry(facts, loader, epoch)
    )


def made_in(loader: Loader, epoch: Loop) -> ast.expr | None:
    """The variable of a loader that is made anew in each epoch, in the loop itself."""
    statement = loader.names.statement(loader.node)
    inside = loader.names is epoch.names and epoch.node in loader.names.ancestors(statement)
    same = loader.names.function(statement) is epoch.names.function(epoch.node)
    return assigned_to(statement, loader.node) if inside and same else None


def may_be_none(facts: Facts, epoch: Loop, loader_name: str) -> bool:
    """Whether a variable may hold no loader: `extra = DataLoader(...) if wanted else None`."""
    held = facts.flow.named(epoch.names, loader_name, epoch.node)
    return any(value.is_none for value in held)


def in_its_place(facts: Facts, loader: Loader) -> list[Loader]:
    """The other loaders that the variable of a loop may hold: another branch makes them."""
    drawn = {value for loop in epoch_loops(facts, loader) for value in _held(facts, loop, loader)}
    return [other for other in every_loader(facts) if other is not loader and other.value in drawn]


def _of_phase(facts: Facts, loader: Loader, epoch: Loop) -> str | None:
    """The loader of the phase that trains, out of those of all: `loaders["train"]`, or its own variable."""
    phase = phase_trained(facts, loader)
    if phase is None:
        return None
    for names, taken in phase.taken:
        if names is epoch.names and names.function(taken) is names.function(epoch.node):
            held = names.source.segment(taken)
            return held if loader.value in facts.flow.values(names, taken) else f"{held}[{phase.name}]"
    return None


def _entry(facts: Facts, loader: Loader, epoch: Loop) -> str | None:
    """The entry of a dictionary that a loop inside draws from: `for x in loaders["train"]`."""
    names = epoch.names
    for node in names.walk(epoch.node):
        iterated = node.iter if isinstance(node, ast.For) and node is not epoch.node else None
        for part in ast.walk(iterated) if iterated is not None else ():
            if not isinstance(part, ast.Subscript) or not isinstance(part.slice, ast.Constant):
                continue
            holder = part.value
            anew = isinstance(holder, ast.Name) and any(
                epoch.node in names.ancestors(binding.node) for binding in names.bindings(holder.id, part)
            )
            if isinstance(holder, (ast.Name, ast.Attribute)) and not anew:
                if facts.flow.values(names, part) == {loader.value}:
                    return names.source.segment(part)
    return None


def _inside(facts: Facts, loader: Loader, epoch: Loop, name: str | None) -> str | None:
    """The loader that a variable holds, or that an object of the project's own around it keeps by then."""
    uses = epoch.names.uses.get(name or "", ())
    use = next((use for use in uses if epoch.node in epoch.names.ancestors(use)), None)
    last = last_binding(epoch.names, use) if use is not None else None
    held = facts.flow.values(epoch.names, last.value) if last is not None and last.value is not None else ()
    owners = [
        value for value in held if value.kind == "object" and words.LOADER not in facts.flow.bases(value)
    ]
    if not owners or len(owners) < len(held):
        return name
    attribute = attribute_holding(facts.flow, owners[0], {loader.value}) if len(owners) == 1 else None
    return f"{name}.{attribute}" if attribute is not None else None


def _held(facts: Facts, loop: Loop, loader: Loader) -> frozenset[Value]:
    name = spelled(facts.flow, loop.names, loop.node, [loader.value])
    return facts.flow.named(loop.names, name, loop.node) if name and name.isidentifier() else frozenset()
