"""Where a TensorFlow program sends rank 0's variables to all ranks."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.once import once


@once
def variable_broadcasts(facts: Facts) -> tuple[Site, ...]:
    """The calls of broadcast_variables and its like; not those of broadcast(0), which only waits."""
    each = facts.calls(*words.ONE_BROADCASTS)
    sent = (site for site in each if site.node.args and not isinstance(site.node.args[0], ast.Constant))
    return (*facts.calls(*words.BROADCASTS), *sent)
