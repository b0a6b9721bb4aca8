"""Whether an optimizer's gradients were averaged by DDP: only then does Horovod's do the same."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.model_parts import is_attribute_of, were_built_from
from hvdkit.migrate.facts.models.wraps import find_wraps
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.wrap_places import WrapPlace
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.index.names import Names
from hvdkit.migrate.values.value import Value


def was_averaged(facts: Facts, place: WrapPlace) -> bool:
    """Whether it was done for the optimizers of a place; what is not known for sure is taken to be so."""
    wrapped = _wrapped(facts)
    if kinds_of(facts, place.names) & {"single"} or wrapped is None:
        return True
    for optimizer in place.optimizers:
        if not [model for model in optimizer.models if model.kind != "param"]:
            return True
        if optimizer.models & wrapped or were_built_from(facts, wrapped, optimizer.models):
            return True
        if any(is_attribute_of(facts, *root, wrapped) for root in optimizer.roots):
            return True
    return False


def never_averaged(facts: Facts, place: WrapPlace) -> str:
    """A model, as written, whose gradients nobody averaged, beside one for which it was done; "" if none."""
    wrapped = _wrapped(facts)
    if kinds_of(facts, place.names) & {"single"} or wrapped is None:
        return ""
    for optimizer in place.optimizers:
        for names, root in optimizer.roots:
            models = facts.flow.unwrap(facts.flow.values(names, root))
            known = bool(models) and all(model.kind in ("made", "object") for model in models)
            if known and not _in_wrapped(facts, names, root, models, wrapped):
                return names.source.segment(root)
    return ""


@once
def _wrapped(facts: Facts) -> frozenset[Value] | None:
    """The models whose gradients are averaged; None where nothing is known to average."""
    wraps = find_wraps(facts)
    return frozenset().union(*(wrap.models for wrap in wraps)) if wraps else None


def _in_wrapped(
    facts: Facts, names: Names, root: ast.expr, models: frozenset[Value], wrapped: frozenset[Value]
) -> bool:
    """Whether models are wrapped, are parts of what is, or are made of it."""
    related = (
        models & wrapped or were_built_from(facts, wrapped, models) or were_built_from(facts, models, wrapped)
    )
    return bool(related) or is_attribute_of(facts, names, root, wrapped)
