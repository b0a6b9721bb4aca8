"""What runs in the processes of a pool or a task engine, and what a search runs with settings of its own.

Horovod, which the ranks initialise, has no rank for a pool's processes; and ranks that search on their own
train models that differ.
"""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.code.call_graph import call_graph
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.values.arguments import given
from hvdkit.source.index.names import FUNCTIONS, Names

# Methods that hand a function to a pool: no other library's have the first ones' names.
HAND_ON = ("apply_async", "imap", "imap_unordered", "map_async", "starmap", "starmap_async")
ALSO_OTHERS = ("apply", "map", "submit")
POOLS = (".Pool", ".ProcessPoolExecutor", ".MPIPoolExecutor", "dask.distributed.Client")
THREADS = ("Thread", "dummy.")
# What makes a function a task, around it or as a decorator.
TASKS = (
    *(f"{module}.{kind}" for module in ("parsl", "parsl.app.app") for kind in ("python_app", "join_app")),
    *("ray.remote", "dask.delayed", "joblib.delayed", "joblib.parallel.delayed"),
)
# What runs a function with settings that it chooses -> where it takes the function.
SEARCHES = {
    "hyperopt.fmin": (0, "fn"),
    "ray.tune.run": (0, "run_or_experiment"),
    "ray.tune.Tuner": (0, "trainable"),
    "wandb.agent": (1, "function"),
    "deephyper.evaluator.Evaluator.create": (0, "run_function"),
}
STUDIES = tuple(f"optuna.{name}" for name in ("create_study", "load_study", "study.create_study"))


def in_pool(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether some way to a node goes through a pool's process, forked or not."""
    return _comes_through(facts, names, node, _handed(facts))


def in_search(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether some way to a node goes through a function that a search of hyperparameters runs."""
    return _comes_through(facts, names, node, _searched(facts))


def _comes_through(facts: Facts, names: Names, node: ast.AST, functions: set[ast.AST]) -> bool:
    seen: set[ast.AST] = set()
    waiting: list[tuple[Names, ast.AST]] = [(names, node)] if functions else []
    while waiting:
        where, place = waiting.pop()
        function = where.function(place)
        if function in functions:
            return True
        if function is not None and function not in seen:
            seen.add(function)
            waiting += call_graph(facts).ways(where, function)
    return False


@once
def _handed(facts: Facts) -> set[ast.AST]:
    """The functions that are handed to a pool, or made tasks."""
    found: set[ast.AST] = set()
    for method in (*HAND_ON, *ALSO_OTHERS):
        for names, call, pool in facts.methods(method):
            handed = call.args[0] if call.args else None
            if handed is not None and _of_processes(facts, names, pool, method):
                found |= _functions(facts, names, handed)
    for site in facts.calls(*TASKS):
        for handed in site.node.args[:1]:
            found |= _functions(facts, site.names, handed)
    for names in facts.files:
        for function in names.of_kind(ast.FunctionDef):
            if any(_is_task(names, decorator) for decorator in function.decorator_list):
                found.add(function)
    return found


@once
def _searched(facts: Facts) -> set[ast.AST]:
    """The functions that a search runs."""
    found: set[ast.AST] = set()
    for site in facts.calls(*SEARCHES):
        handed = given(site.node, *SEARCHES[site.name])
        found |= _functions(facts, site.names, handed) if handed is not None else set()
    for names, call, study in facts.methods("optimize"):
        handed = given(call, 0, "func")
        if handed is not None and facts.flow.made(names, study) & set(STUDIES):
            found |= _functions(facts, names, handed)
    return found


def _functions(facts: Facts, names: Names, handed: ast.expr) -> set[ast.AST]:
    values = facts.flow.values(names, handed)
    return {value.node for value in values if isinstance(value.node, FUNCTIONS)}


def _is_task(names: Names, decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return any(name in TASKS for name in names.qualified(called))


def _of_processes(facts: Facts, names: Names, pool: ast.expr, method: str) -> bool:
    made = facts.flow.made(names, pool)
    if any(word in name for name in made for word in THREADS):
        return False
    return method in HAND_ON or any(name.endswith(POOLS) for name in made)
