"""Backward passes for others' steps, or for none, that go through an optimizer's parameters.

DDP averages what they leave, Horovod's hooks begin to: a next pass or zero_grad() finds them under way.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import Callable

from hvdkit.migrate.facts.code.loops import backward_files
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.freezing import Switch, switches
from hvdkit.migrate.facts.models.step_groups import Backward, Step, region_of
from hvdkit.migrate.facts.models.syncing import sync_of
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import LOOPS, Names

OTHERS = "a different model's backward pass reaches these parameters"

Leads = Mapping[ast.Call, Set[ast.Call]]


FileNode = tuple[Names, ast.AST]


def never_meet(
    facts: Facts,
    names: Names,
    ways: Sequence[ast.Call],
    some: Sequence[FileNode],
    others: Sequence[FileNode],
) -> bool:
    """Whether some places and others are in classes of which one object is of one or the other.

    ways: the calls of its methods, in one file, by which all of these places are come to.
    """
    holders = [way.func.value for way in ways if isinstance(way.func, ast.Attribute)]
    held = holders[0] if holders else None
    if len(holders) < len(ways) or not isinstance(held, ast.Name) or len(set(map(ast.dump, holders))) > 1:
        return False
    if any(binding.kind == "each" for binding in names.bindings(held.id, held)):
        return False
    objects = facts.flow.values(names, held)
    if not objects or any(value.kind != "object" for value in objects):
        return False
    mine, theirs = set(map(_class_of, some)), set(map(_class_of, others))
    families = [{node for _, node in facts.flow.classes(value)} for value in objects]
    return None not in mine | theirs and not any(mine & family and theirs & family for family in families)


def _class_of(place: FileNode) -> ast.AST | None:
    """The class whose method a place is in."""
    names, node = place
    return names.class_around(node)


class PassesForOthers:
    """Asked for one group of optimizers that share steps.

    leads: each call -> the backward() and step() calls that it runs. reaches: whether a pass makes gradients
    for some optimizers.
    """

    def __init__(
        self,
        facts: Facts,
        steps: Sequence[Step],
        leads: Leads,
        reaches: Callable[[Backward, frozenset[Value]], bool],
    ) -> None:
        self._facts = facts
        self._steps = steps
        self._leads = leads
        self._reaches = reaches
        self._where = backward_files(facts)

    def beside(
        self, steps: Set[ast.Call], known: Set[ast.Call], rivals: frozenset[Value]
    ) -> tuple[Backward, ...]:
        """Passes that go through rivals' parameters beside these steps, and that none of these follows.

        known: the steps' own passes. What one call runs, its own pass or another's, are two kinds of one
        thing: they never meet.
        """
        found: dict[ast.Call, Backward] = {}
        for names, origin, anchor in self._around(steps, known) if rivals else ():
            backward = Backward(self._where[origin], origin, names, anchor, sync_of(names, anchor))
            if not self._for_others(names, anchor, rivals) or self._too_early(names, anchor, steps):
                continue
            if self._reaches(backward, rivals) and not self._frozen(names, anchor, rivals):
                found[anchor] = backward
        return tuple(sorted(found.values(), key=lambda backward: backward.anchor.lineno))

    def _around(
        self, steps: Set[ast.Call], known: Set[ast.Call]
    ) -> Iterator[tuple[Names, ast.Call, ast.Call]]:
        """The passes of a loop with these steps that they do not follow, or of a class with them."""
        own = [(step.names, step.call) for step in self._steps if step.call in steps]
        for names, runs in self._loops:
            stepping = {call: origins for call, origins in runs.items() if origins & steps}
            mine = set().union(*stepping.values())
            for call, origins in runs.items() if stepping else ():
                for origin in sorted(origins & self._where.keys(), key=lambda each: each.lineno):
                    if origin not in mine | known:
                        ways = [*stepping, *(each for each, others in runs.items() if origin in others)]
                        where = self._where[origin]
                        if not never_meet(self._facts, names, ways, [(where, origin)], own):
                            yield where, origin, origin
                    elif origin in known and not origins & steps:
                        yield from self._shared(call, origin)
        for origin, names in self._where.items():
            if origin not in known and self._beside_in_class(names, origin, steps):
                yield names, origin, origin

    def _shared(self, call: ast.Call, origin: ast.Call) -> Iterator[tuple[Names, ast.Call, ast.Call]]:
        """Where a function that steps others makes a pass through a helper that these steps have, too."""
        names = next(names for names in self._facts.files if call in names.parents)
        for where, function in self._facts.flow.functions(names, call):
            if not any(region_of(step.names, step.call) is function for step in self._steps):
                continue
            for inner in where.calls_in(function):
                if inner is not origin and origin in self._leads.get(inner, ()):
                    yield where, origin, inner

    def _beside_in_class(self, names: Names, origin: ast.Call, steps: Set[ast.Call]) -> bool:
        """Whether a method that is called from nowhere here makes a pass, and another of its class steps."""
        function, owner = names.function(origin), names.class_around(origin)
        if function is None or owner is None or self._facts.flow.call_sites(names, function):
            return False
        return any(step.call in steps and step.names.class_around(step.call) is owner for step in self._steps)

    def _for_others(self, names: Names, backward: ast.Call, members: frozenset[Value]) -> bool:
        """Whether the function around a backward pass steps other optimizers than these, or nothing."""
        region = region_of(names, backward)
        here = [s for s in self._steps if s.names is names and region_of(names, s.call) is region]
        unknown = any(region_of(names, call) is region for call in names.calls.get("step", ()))
        return not any(step.optimizers & members for step in here) if here else not unknown

    def _too_early(self, names: Names, backward: ast.Call, steps: Set[ast.Call]) -> bool:
        """Whether a pass runs above the line of its own function that makes the optimizers of these steps."""
        stepped = frozenset().union(*(step.optimizers for step in self._steps if step.call in steps))
        region = region_of(names, backward)
        return any(
            optimizer.names is names
            and region_of(names, optimizer.node) is region
            and backward.lineno < optimizer.node.lineno
            for optimizer in averaging_optimizers(self._facts)
            if optimizer.value in stepped
        )

    def _frozen(self, names: Names, backward: ast.Call, members: frozenset[Value]) -> bool:
        """Whether the function around a backward pass freezes all that these optimizers train, above it."""
        region = region_of(names, backward)
        mine = [optimizer for optimizer in averaging_optimizers(self._facts) if optimizer.value in members]
        trained = frozenset().union(*(optimizer.models for optimizer in mine))
        frozen = frozenset().union(
            *(
                switch.models
                for switch in self._switches
                if switch.value is False
                and switch.names is names
                and region_of(names, switch.at) is region
                and switch.at.lineno < backward.lineno
            )
        )
        return bool(trained) and trained <= frozen

    @cached_property
    def _switches(self) -> tuple[Switch, ...]:
        return tuple(switches(self._facts))

    @cached_property
    def _loops(self) -> tuple[tuple[Names, dict[ast.Call, set[ast.Call]]], ...]:
        """For each loop, the backward() and step() calls that each call in it leads to, again and again."""
        found: dict[ast.AST, tuple[Names, dict[ast.Call, set[ast.Call]]]] = {}
        for names in self._facts.files:
            for call in {call for calls in names.calls.values() for call in calls} & self._leads.keys():
                for parent in names.ancestors(call):
                    if isinstance(parent, LOOPS):
                        found.setdefault(parent, (names, {}))[1][call] = {*self._leads[call]}
        return tuple(found.values())
