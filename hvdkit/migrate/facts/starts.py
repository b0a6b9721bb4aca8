"""Whether a program comes to the call that starts Horovod: importing its file is not enough."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.programs import ProgramFacts, main_guard
from hvdkit.migrate.names import FunctionNode, Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts, Site

MAX_CALLERS = 8


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


def runs_in(facts: Facts, program: ProgramFacts, names: Names, node: ast.AST, depth: int = 0) -> bool:
    """Whether a node runs in a program, itself or through the calls of the function around it."""
    if names not in program.files or depth > MAX_CALLERS:
        return False
    function = names.function(node)
    if function is None:
        return begins_in(program, names, node)
    sites = facts.flow.call_sites(names, function)
    if not sites:
        return is_named(facts, names, function)
    return any(runs_in(facts, program, where, call, depth + 1) for where, call in sites)


def is_named(facts: Facts, names: Names, function: FunctionNode) -> bool:
    """Whether anything names a function; one that nothing names may be run by hand alone."""
    name = getattr(function, "name", "")
    if not name or name in names.uses or isinstance(names.parents[function], ast.ClassDef):
        return True
    return name in _taken(facts) or any(
        name in other.attributes or (other.stars and name in other.uses and name not in other.module.names)
        for other in facts.files
    )


def _taken(facts: Facts) -> set[str]:
    """The names that the files of a project import from others."""
    if _taken not in facts.answers:
        facts.answers[_taken] = {
            binding.qualified.rpartition(".")[2]
            for names in facts.files
            for scope in names.scopes.values()
            for bindings in scope.names.values()
            for binding in bindings
            if binding.kind == "import"
        }
    found: set[str] = facts.answers[_taken]
    return found


def begins_in(program: ProgramFacts, names: Names, node: ast.AST) -> bool:
    """Whether module-level code runs in a program: not under another script's main guard."""
    if names is program.entry:
        return True
    guard = main_guard(names)
    return names in program.files and (guard is None or guard not in names.ancestors(node))
