"""Keras' iterators over images and arrays, which shuffle with numpy's random numbers of their own process."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.keras.step_loops import StepLoop
from hvdkit.migrate.facts.programs.programs import files_with
from hvdkit.migrate.facts.tensorflow.datasets import run_over
from hvdkit.migrate.facts.tensorflow.ways import Chain, operation
from hvdkit.migrate.values.arguments import keyword
from hvdkit.source.index.names import Names

GENERATOR = "keras.preprocessing.image.ImageDataGenerator"
FLOWS = ("flow", "flow_from_directory", "flow_from_dataframe")
SEEDS = ("numpy.random.seed", "keras.utils.set_random_seed")
SEEDS_OF_DATASETS = ("tensorflow.random.set_seed", "keras.utils.set_random_seed")


def own_order(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether an expression is an iterator that gives each rank the data in an order of its own."""
    values = facts.flow.values(names, node)
    if not values or not all(isinstance(value.node, ast.Call) for value in values):
        return False
    if any(_seeded(facts, value.names, SEEDS) for value in values):
        return False
    return all(
        isinstance(value.node, ast.Call) and _shuffles(facts, value.names, value.node) for value in values
    )


def _shuffles(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether a call is `ImageDataGenerator(...).flow_from_directory(...)`, shuffled, and by no seed."""
    shuffle = keyword(call, "shuffle")
    plain = isinstance(call.func, ast.Attribute) and operation(call) in FLOWS and len(call.args) <= 2
    return (
        plain
        and isinstance(call.func, ast.Attribute)
        and GENERATOR in facts.flow.made(names, call.func.value)
        and (shuffle is None or (isinstance(shuffle, ast.Constant) and shuffle.value is True))
        and keyword(call, "seed") is None
        and all(item.arg for item in call.keywords)
    )


def _seeded(facts: Facts, names: Names, seeds: tuple[str, ...]) -> bool:
    """Whether a program of this file seeds what the iterators, or datasets, shuffle with."""
    files = files_with(facts, names)
    return any(site.names in files for site in facts.calls(*seeds))


def shuffles_apart(facts: Facts, chain: Chain) -> bool:
    """Whether a dataset gives each rank its elements in an order of its own: shuffled, and by no seed."""
    return any(
        operation(call) == "shuffle"
        and keyword(call, "seed") is None
        and len(call.args) < 2
        and not _seeded(facts, names, SEEDS_OF_DATASETS)
        for names, call in chain.ops
    )


def drawn_steps(facts: Facts, loop: StepLoop) -> ast.expr | None:
    """The number of steps of a loop over `range(steps)` whose batches such an iterator gives by next()."""
    if isinstance(loop.node, ast.While):
        return None
    over = list(run_over(loop.names, loop.node.iter))
    steps = over[0] if len(over) == 1 else None
    if not isinstance(steps, ast.Call) or getattr(steps.func, "id", "") != "range" or len(steps.args) != 1:
        return None
    taken = [
        call.args[0]
        for call in loop.names.calls.get("next", ())
        if call.args and loop.node in loop.names.ancestors(call)
    ]
    drawn = bool(taken) and all(own_order(facts, loop.names, iterator) for iterator in taken)
    return steps.args[0] if drawn else None


def draws_from(loop: StepLoop, datasets: set[ast.expr]) -> bool:
    """Whether a loop runs over one of some datasets."""
    if isinstance(loop.node, ast.While):
        return False
    return any(part in datasets for each in run_over(loop.names, loop.node.iter) for part in ast.walk(each))
