"""A function that steps the optimizer it is given, after a pass through the model that it is given with it.

`def train(loader, model, optimizer)` for one model after the other: each call has its own pair.
"""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.code.loops import backward_calls
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.losses import reached_models
from hvdkit.migrate.facts.models.step_groups import Group
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.values.arguments import passed
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import FUNCTIONS, Names


def paired(facts: Facts, group: Group) -> bool:
    """Whether each call of the function that steps gives it an optimizer, and the model that goes with it."""
    first = group.steps[0]
    names, function = first.names, first.names.function(first.call)
    if not isinstance(function, FUNCTIONS) or not isinstance(first.target, ast.Name):
        return False
    for step in group.steps:
        same = isinstance(step.target, ast.Name) and step.target.id == first.target.id
        if not same or names.function(step.call) is not function:
            return False
    if any(binding.kind != "param" for binding in names.bindings(first.target.id, first.target)):
        return False
    reached: set[Value] = set()
    for where, call in backward_calls(facts):
        if where is names and names.function(call) is function:
            reached |= reached_models(facts, names, call)
    given: set[Value] = set()
    sites = facts.flow.call_sites(names, function)
    for where, site in sites:
        stepped = passed(names, function, where, site, first.target.id)
        mine = _values(facts, where, stepped) & group.optimizers
        models = {
            value
            for argument in (*site.args, *(keyword.value for keyword in site.keywords))
            for value in _values(facts, where, argument)
        }
        own, others = _trained(facts, mine), group.optimizers - mine
        if not own or not own <= models:
            return False
        if _trained(facts, others) & models and not _named_apart(facts, where, site, mine, others):
            return False
        given |= models
    return bool(sites and reached) and reached <= given


def _named_apart(
    facts: Facts, names: Names, site: ast.Call, mine: frozenset[Value], others: frozenset[Value]
) -> bool:
    """Whether a call is given its optimizer's model alone, by its variable: two of one class have two."""
    given = {argument.id for argument in site.args if isinstance(argument, ast.Name)}
    own, apart = _variables(facts, names, mine), _variables(facts, names, others)
    return own is not None and apart is not None and own <= given and not apart & given


def _variables(facts: Facts, names: Names, optimizers: frozenset[Value]) -> set[str] | None:
    """The variables that hold what optimizers train, each filled by calls alone: no two hold one model."""
    found: set[str] = set()
    for optimizer in averaging_optimizers(facts):
        for where, root in optimizer.roots if optimizer.value in optimizers else ():
            bindings = where.bindings(root.id, root) if isinstance(root, ast.Name) else []
            made = all(b.kind == "assign" and isinstance(b.value, ast.Call) for b in bindings)
            if where is not names or not isinstance(root, ast.Name) or not bindings or not made:
                return None
            found.add(root.id)
    return found


def _values(facts: Facts, names: Names, node: ast.expr | None) -> frozenset[Value]:
    return facts.flow.unwrap(facts.flow.values(names, node)) if node is not None else frozenset()


def _trained(facts: Facts, optimizers: frozenset[Value]) -> frozenset[Value]:
    mine = (optimizer.models for optimizer in averaging_optimizers(facts) if optimizer.value in optimizers)
    return frozenset().union(*mine)
