"""Whether a program comes to the call that starts Horovod: importing its file is not enough."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.launch.pools import in_pool
from hvdkit.migrate.facts.programs import ProgramFacts, main_guard, module_imports
from hvdkit.migrate.facts.values.arguments import is_on, keyword
from hvdkit.migrate.names import FUNCTIONS, Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts, Site

MAX_CALLERS = 4


def starting_sites(facts: Facts, program: ProgramFacts) -> list[Site]:
    """The calls of init_process_group or hvd.init() that running a program may come to."""
    sites = facts.calls(words.INIT, *words.HVD_INIT)
    return [site for site in sites if runs_in(facts, program, site.names, site.node)]


def started(facts: Facts, names: Names, node: ast.AST) -> set[bool]:
    """Whether Horovod runs, for each program that may come to a node; HVD110 starts those of one process.

    In a process of a pool it does not. A project that nowhere makes a process group is not asked.
    """
    if in_pool(facts, names, node):
        return {False}
    if not facts.calls(words.INIT, *words.HVD_INIT):
        return {True}
    running = {_starts(facts, program) for program in facts.programs if runs_in(facts, program, names, node)}
    if running:
        return running
    # What only a person may call asks for its rank where some program with its file starts ranks.
    holding = {_starts(facts, program) for program in facts.programs if names in program.files}
    return holding if holding == {False} else set()


def _starts(facts: Facts, program: ProgramFacts) -> bool:
    return program.kind in ("single", "horovod") or bool(starting_sites(facts, program))


def on_import(facts: Facts, names: Names, node: ast.AST, depth: int = 0) -> bool:
    """Whether a node of a script of one process may run before HVD110's hvd.init(), during an import."""
    function = names.function(node)
    if function is not None:
        sites = facts.flow.call_sites(names, function) if depth < MAX_CALLERS else []
        return any(on_import(facts, *site, depth + 1) for site in sites)
    guard, last = main_guard(names), start_below(facts, names)
    if guard is not None:
        return guard not in names.ancestors(node)
    entry = any(program.entry is names for program in facts.programs)
    return not entry or last is None or getattr(node, "lineno", 0) <= (last.end_lineno or last.lineno)


def after_start(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether Horovod has started: HVD110 starts it below the imports, or first under the main guard."""
    function = names.function(call)
    if function is not None:
        return any(runs_in(facts, program, names, call) for program in facts.programs) and not on_import(
            facts, names, call
        )
    entry = any(program.entry is names and program.kind == "single" for program in facts.programs)
    guard = main_guard(names)
    if guard is not None:
        return entry and guard in names.ancestors(call)
    last = start_below(facts, names)
    return entry and last is not None and call.lineno > (last.end_lineno or last.lineno)


def start_below(facts: Facts, names: Names) -> ast.stmt | None:
    """The import that hvd.init() goes below: the last before ranks are asked, or the project runs."""
    imports = module_imports(names)
    body = names.source.tree.body
    first = next((s for s in body if runs_project(facts, names, s) or _asks_rank(facts, names, s)), None)
    torch = names.module.names.get("torch", ())
    if first is not None and all(getattr(binding.node, "lineno", 0) < first.lineno for binding in torch):
        imports = [statement for statement in imports if statement.lineno < first.lineno] or imports
    return next(reversed(imports), None)


def _asks_rank(facts: Facts, names: Names, statement: ast.stmt) -> bool:
    """Whether a statement makes what each rank has its own of, or what one of them downloads.

    Notebooks, and scripts like them, import more below.
    """
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return False
    made = {loader.node for loader in facts.loaders} | {each.node for each in facts.every_optimizer}
    return any(call in made or is_on(keyword(call, "download")) for call in names.calls_in(statement))


def runs_project(facts: Facts, names: Names, statement: ast.stmt) -> bool:
    """Whether a statement runs functions of the project, when its file is run or imported."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return False
    return any(facts.flow.functions(names, call) for call in names.calls_in(statement))


def runs_in(facts: Facts, program: ProgramFacts, names: Names, node: ast.AST) -> bool:
    """Whether a node may run in a program."""
    return facts.graph.runs(program.entry, program.files, names, node)


def run_by_nobody(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether no program is seen to come to a node: a configuration may name the class that it is in."""
    return not any(runs_in(facts, program, names, node) for program in facts.programs)
