"""Norms over more gradients than the optimizers hold: those that Horovod averages, and others."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.freezing import switches
from hvdkit.migrate.facts.models.parameter_roots import parameter_roots
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.optimizers.start_values import is_module
from hvdkit.migrate.index.names import Names
from hvdkit.migrate.values.value import Value

NORMS = ("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_norm", "torch.nn.utils.get_total_norm")


def wider_norms(facts: Facts) -> Iterator[tuple[Names, ast.Call]]:
    """Norms over a model of which the optimizers hold only a part, where nothing of it is ever frozen."""
    held = {model for optimizer in averaging_optimizers(facts) for model in optimizer.models}
    for site in facts.calls(*NORMS):
        roots = parameter_roots(facts, site.names, site.node.args[0]) if site.node.args else []
        models = {model for root in roots for model in facts.flow.unwrap(facts.flow.values(*root))}
        models = {model for model in models - held if is_module(facts, model)}
        if any(_is_held_in_part(facts, model) and not _is_frozen(facts, model) for model in models):
            yield site.names, site.node


def _is_held_in_part(facts: Facts, model: Value) -> bool:
    """Whether optimizers hold one part of a model alone; several may be all of it."""
    parts = {
        root.attr
        for optimizer in averaging_optimizers(facts)
        for names, root in optimizer.roots
        if isinstance(root, ast.Attribute)
        and model in facts.flow.unwrap(facts.flow.values(names, root.value))
    }
    return len(parts) == 1


def _is_frozen(facts: Facts, model: Value) -> bool:
    """Whether parameters of a model, or of one that is not known, are switched off somewhere."""
    return any(
        switch.value is not True and (not switch.models or model in switch.models)
        for switch in switches(facts)
    )
