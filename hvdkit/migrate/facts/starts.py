"""Whether a program comes to the call that starts Horovod: importing its file is not enough."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.programs import ProgramFacts
from hvdkit.migrate.names import Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts, Site


def starting_sites(facts: Facts, program: ProgramFacts) -> list[Site]:
    """The calls of init_process_group or hvd.init() that running a program may come to."""
    sites = facts.calls(words.INIT, *words.HVD_INIT)
    return [site for site in sites if runs_in(facts, program, site.names, site.node)]


def started(facts: Facts, names: Names, node: ast.AST) -> set[bool]:
    """Whether Horovod runs, for each program that may come to a node; HVD110 starts those of one process.

    A project that nowhere makes a process group is not asked.
    """
    if not facts.calls(words.INIT, *words.HVD_INIT):
        return {True}
    return {
        program.kind in ("single", "horovod") or bool(starting_sites(facts, program))
        for program in facts.programs
        if runs_in(facts, program, names, node)
    }


def runs_in(facts: Facts, program: ProgramFacts, names: Names, node: ast.AST) -> bool:
    """Whether a node may run in a program."""
    return facts.graph.runs(program.entry, program.files, names, node)
