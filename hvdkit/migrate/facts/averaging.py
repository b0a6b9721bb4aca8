"""Whether an optimizer's gradients were averaged, by DDP or by hand: only then does Horovod's do the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hvdkit.migrate.facts.parts import hold, is_attribute_of
from hvdkit.migrate.facts.placing import Place
from hvdkit.migrate.facts.wraps import find_wraps

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts


def was_averaged(facts: Facts, place: Place) -> bool:
    """Whether it was done for the optimizers of a place; what is not known for sure is taken to be so."""
    wraps = list(find_wraps(facts))
    if facts.kinds(place.names) & {"single"} or not (wraps or facts.by_hand.models):
        return True
    wrapped = facts.by_hand.models.union(*(wrap.models for wrap in wraps))
    for optimizer in place.optimizers:
        if not [model for model in optimizer.models if model.kind != "param"]:
            return True
        if optimizer.models & wrapped or hold(facts, wrapped, optimizer.models):
            return True
        if any(is_attribute_of(facts, *root, wrapped) for root in optimizer.roots):
            return True
    return False
