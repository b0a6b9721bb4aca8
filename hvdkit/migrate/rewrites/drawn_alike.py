"""A draw of random numbers that comes out the same on every rank."""

from __future__ import annotations

import ast

from hvdkit.migrate import edits
from hvdkit.migrate.facts.data.random_splits import GENERATOR, PICKS, can_write
from hvdkit.migrate.facts.facts import Site
from hvdkit.migrate.plan import Edit

OWN_GENERATORS = {"random": "Random", "numpy": "RandomState"}


def drawn_alike(site: Site) -> Edit:
    """The draw by a generator of its own, so that nothing else is drawn alike. Raises CannotEdit."""
    names, call = site.names, site.node
    if PICKS[site.name] == "torch":
        if can_write(site, GENERATOR) and not any(keyword.arg == "device" for keyword in call.keywords):
            return edits.add_arguments(names.source, call, [GENERATOR])
    elif isinstance(call.func, ast.Attribute):
        made = f"{names.source.segment(call.func.value)}.{OWN_GENERATORS[PICKS[site.name]]}(0)"
        return edits.replace(names.source, call.func.value, made)
    raise edits.CannotEdit("draw it from a generator with the same seed on all ranks")
