"""Ignite's engines: what they run for each batch, and where they are run over a loader."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.values.arguments import given, is_on, keyword
from hvdkit.source.index.names import FunctionNode, Names

ENGINES = frozenset(("ignite.engine.Engine", "ignite.engine.engine.Engine"))
# What makes an engine that does the backward pass and the step itself.
TRAINERS = frozenset(("ignite.engine.create_supervised_trainer",))
# Its options with which the step is more than `loss.backward(); optimizer.step()`.
MORE = ("amp_mode", "scaler", "gradient_accumulation_steps")
Site = tuple[Names, ast.Call]


@once
def _runs(facts: Facts) -> list[tuple[Site, Site]]:
    """Each `engine.run(data)`, with the call that made the engine."""
    if not any(names.imported("ignite") for names in facts.files):
        return []
    return [
        ((names, call), (value.names, value.node))
        for names, call, receiver in facts.methods("run")
        for value in facts.flow.values(names, receiver)
        if value.kind == "made" and value.name in ENGINES | TRAINERS and isinstance(value.node, ast.Call)
    ]


def runs_of(facts: Facts, function: FunctionNode) -> list[Site]:
    """Where an engine is run that calls a function for each batch: `Engine(update).run(loader)`."""
    return [
        run
        for run, (names, made) in _runs(facts)
        if (update := given(made, 0, "process_function")) is not None
        and any(value.node is function for value in facts.flow.values(names, update))
    ]


def trainer_runs(facts: Facts) -> list[Site]:
    """Where an engine is run that makes its backward passes and steps itself."""
    return [run for run, made in _runs(facts) if facts.flow.qualified(made[0], made[1].func) & TRAINERS]


def data_of(facts: Facts, call: ast.Call) -> ast.expr | None:
    """What an engine is run over, if a call runs one."""
    return given(call, 0, "data") if any(call is run for (_, run), _ in _runs(facts)) else None


def more_than_steps(facts: Facts) -> list[Site]:
    """The trainers of the library that scale the loss, or step after several backward passes."""
    sites = facts.calls(*TRAINERS)
    return [
        (site.names, site.node)
        for site in sites
        if any(item.arg is None for item in site.node.keywords)
        or any(is_on(keyword(site.node, name)) and not _is_one(keyword(site.node, name)) for name in MORE)
    ]


def _is_one(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1 and node.value is not True
