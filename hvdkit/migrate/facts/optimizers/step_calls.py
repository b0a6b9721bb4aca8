"""The calls that step optimizers, and what leads to them or to a backward pass."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cached_property

from hvdkit.migrate.facts.code.loops import backward_calls, backward_files
from hvdkit.migrate.facts.code.running import walk_here
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.step_groups import Step
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import given
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import FunctionNode, Names

MAX_CALLERS = 6


class StepCalls:
    """The steps of a project's optimizers, and the calls that run one of them or a backward pass."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._called: dict[ast.AST, list[ast.Call]] = {}

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Every step of an optimizer that the project constructs."""
        known = {optimizer.value for optimizer in averaging_optimizers(self._facts)}
        found: list[Step] = []
        for names, call, receiver in self._facts.methods("step"):
            values = self._values(names, receiver)
            scaled = any(value.name == words.SCALER for value in values) and bool(call.args)
            target = call.args[0] if scaled else receiver
            mine = self._values(names, target) & known
            if mine:
                found.append(Step(names, call, target, mine, scaled))
        return tuple(found)

    def runs_backward(self, node: ast.AST) -> bool:
        """Whether running a node makes a backward pass, itself or through the project's functions."""
        backwards = backward_files(self._facts).keys()
        return any(self.leads.get(call, set()) & backwards for call in self.calls_here(node))

    @cached_property
    def leads(self) -> dict[ast.Call, set[ast.Call]]:
        """Each call that runs a backward pass or a step -> the backward() and step() calls that it runs."""
        found: dict[ast.Call, set[ast.Call]] = defaultdict(set)
        origins = [*backward_calls(self._facts), *((step.names, step.call) for step in self.steps)]
        for names, origin in origins:
            waiting = [(names, origin, 0)]
            for where, call, depth in waiting:
                if origin in found[call]:
                    continue
                found[call].add(origin)
                function = where.function(call)
                if function is not None and depth < MAX_CALLERS:
                    sites = [*self._facts.flow.call_sites(where, function), *self._given_to(function)]
                    waiting += [(other, site, depth + 1) for other, site in sites]
        return found

    def calls_here(self, node: ast.AST) -> list[ast.Call]:
        """The calls that run with a node, those of functions defined inside it left out."""
        if node not in self._called:
            self._called[node] = [part for part in walk_here(node) if isinstance(part, ast.Call)]
        return self._called[node]

    def _given_to(self, function: FunctionNode) -> list[tuple[Names, ast.Call]]:
        """The steps that evaluate a function: `optimizer.step(closure)`."""
        return [
            (step.names, step.call)
            for step in self.steps
            if (closure := closure_of(step)) is not None
            and any(value.node is function for value in self._facts.flow.values(step.names, closure))
        ]

    def _values(self, names: Names, node: ast.AST) -> frozenset[Value]:
        return self._facts.flow.unwrap(self._facts.flow.values(names, node))


def closure_of(step: Step) -> ast.expr | None:
    """What a step is given to evaluate."""
    closure = None if step.scaled else given(step.call, 0, "closure")
    return None if isinstance(closure, ast.Constant) else closure


@once
def step_calls(facts: Facts) -> StepCalls:
    """The calls that step optimizers, and what leads to them."""
    return StepCalls(facts)
