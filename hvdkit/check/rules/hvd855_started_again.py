"""HVD855: worker processes import the script, and run hvd.init() again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import called, programs
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.data.loaders import every_loader
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import given, keyword
from hvdkit.source.index.names import Names

MODULES = ("multiprocessing", "torch.multiprocessing")
CONTEXTS = frozenset(f"{module}.get_context" for module in MODULES)
SETS = tuple(f"{module}.set_start_method" for module in MODULES)
SPAWNS = ("torch.multiprocessing.spawn", "torch.multiprocessing.start_processes")
STARTS = tuple(f"{module}.{name}" for module in MODULES for name in ("Pool", "Process"))
EXECUTOR = "concurrent.futures.ProcessPoolExecutor"
IMPORTING = ("spawn", "forkserver")  # the ways to start a process that import the main module in it


def check(facts: Facts) -> Iterator[Finding]:
    seen: set[ast.AST] = set()
    for program in programs(facts):
        inits = [site for site in called(facts, "init") if site.names in program.files]
        if not any(_on_import(facts, site.names, site.node, set()) for site in inits):
            continue
        for names, node in _importing_workers(facts, program):
            if node not in seen and runs_in(facts, program, names, node):
                seen.add(node)
                message = (
                    "each worker process imports this script, and runs hvd.init() again as the same rank"
                )
                advice = (
                    'put the whole body of the script, hvd.init() first, under `if __name__ == "__main__":`, or into a '
                    "function that is called there"
                )
                yield manual("HVD855", names, node, message, advice)


def _on_import(facts: Facts, names: Names, node: ast.AST, seen: set[ast.AST]) -> bool:
    """Whether importing a file runs a node: it is in no function, nor under a test of __name__ or the process."""
    for parent in names.ancestors(node):
        if isinstance(parent, ast.If) and _asks_who_runs(names, parent.test):
            return False
    function = names.function(node)
    if function is None:
        return True
    if function in seen:
        return False
    seen.add(function)
    return any(_on_import(facts, *site, seen) for site in facts.flow.call_sites(names, function))


def _asks_who_runs(names: Names, test: ast.expr) -> bool:
    return any(
        (isinstance(part, ast.Name) and part.id == "__name__")
        or (isinstance(part, ast.Call) and any(n.startswith(MODULES) for n in names.qualified(part.func)))
        for part in ast.walk(test)
    )


def _importing_workers(facts: Facts, program: ProgramFacts) -> Iterator[tuple[Names, ast.Call]]:
    """Where a program starts processes that begin with an import of its main module."""
    mine = [site for site in facts.calls(*SETS) if site.names in program.files]
    every = any(_is_importing(given(site.node, 0, "method")) for site in mine)
    for loader in every_loader(facts):
        if loader.names in program.files and _has_workers(loader.node):
            context = keyword(loader.node, "multiprocessing_context")
            if _importing_context(facts, loader.names, context) or (context is None and every):
                yield loader.names, loader.node
    for site in facts.calls(*SPAWNS, EXECUTOR, *(STARTS if every else ())):
        if site.names in program.files:
            how = keyword(site.node, "start_method" if site.name in SPAWNS else "mp_context")
            default = site.name in SPAWNS or every
            if default if how is None else _importing_context(facts, site.names, how):
                yield site.names, site.node
    for method in ("Pool", "Process"):
        for names, call, receiver in facts.methods(method):
            if names in program.files and _importing_context(facts, names, receiver):
                yield names, call


def _has_workers(call: ast.Call) -> bool:
    workers = keyword(call, "num_workers")
    return workers is not None and not (isinstance(workers, ast.Constant) and not workers.value)


def _importing_context(facts: Facts, names: Names, context: ast.expr | None) -> bool:
    """`"spawn"`, or what get_context("spawn") gave."""
    values = facts.flow.values(names, context)
    return bool(values) and all(
        _is_importing(value.node)
        or (
            value.name in CONTEXTS
            and isinstance(value.node, ast.Call)
            and _is_importing(given(value.node, 0, "method"))
        )
        for value in values
    )


def _is_importing(method: ast.AST | None) -> bool:
    return isinstance(method, ast.Constant) and method.value in IMPORTING


RULE = Rule(
    id="HVD855",
    title="worker processes that start Horovod again",
    what=(
        "Each worker of a loader joins the job again as the rank that started it: the job fails or hangs "
        "when the first batch is requested, usually with the message of a failed collective."
    ),
    why=(
        "a process that is started by spawn or forkserver imports the main module to find the function to "
        "run, and any code outside a main guard runs again."
    ),
    safety="Nothing is edited: what belongs under the main guard is for the author to decide.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            from torch.utils.data import DataLoader

            hvd.init()
            loader = DataLoader(data, num_workers=2, multiprocessing_context="forkserver")
            """,
            reason="no main guard is around it",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            from torch.utils.data import DataLoader

            if __name__ == "__main__":
                hvd.init()
                loader = DataLoader(data, num_workers=2, multiprocessing_context="forkserver")
            """,
            reason="a worker that imports this does nothing",
        ),
    ),
)
