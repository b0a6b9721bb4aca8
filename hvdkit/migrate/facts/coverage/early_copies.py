"""Models that took over each rank's own weights above their broadcast, and that no broadcast reaches."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.coverage.own_weights import all_draw_alike, sent_by_text, wholes
from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.models.copied_weights import copies_above
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.values.vocabulary import HVD_BROADCAST


def early_copies(facts: Facts, program: ProgramFacts) -> Iterator[tuple[str, Site]]:
    """Each copy as it is written where the weights are broadcast, and that broadcast."""
    if all_draw_alike(facts, program):
        return
    sent = sent_by_text(facts, program)
    for site in facts.calls(*HVD_BROADCAST):
        if site.names not in program.files or not runs_in(facts, program, site.names, site.node):
            continue
        given = (*site.node.args, *(item.value for item in site.node.keywords))
        models = [
            site.names.source.segment(whole)
            for each in given
            for whole in wholes(site.names, each)
            if isinstance(whole, (ast.Name, ast.Attribute))
        ]
        for copy in copies_above(facts, site.names, site.names.statement(site.node), models):
            if copy not in sent:
                yield copy, site
