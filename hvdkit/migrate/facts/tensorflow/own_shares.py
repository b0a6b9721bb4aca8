"""Whether what a rank trains on is its own share."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.tensorflow.datasets import dataset_chains
from hvdkit.migrate.facts.tensorflow.ways import Chain, operation
from hvdkit.source.index.names import Binding, Names


def is_cut(facts: Facts, chain: Chain) -> bool:
    """Whether a pipeline is cut by rank on its way, or made by a function that is told its rank."""
    return _made_by_rank(facts, chain) or any(_cuts(facts, names, call) for names, call in chain.ops)


def _cuts(facts: Facts, names: Names, call: ast.Call) -> bool:
    if operation(call) == "shard":
        return True
    if operation(call) != "apply" or not call.args:
        return False
    named = facts.flow.qualified(names, call.args[0])
    return rank_kinds(facts).inside(names, call) or any(name.endswith(".shard_dataset") for name in named)


def _made_by_rank(facts: Facts, chain: Chain) -> bool:
    """A strategy's dataset function, before HVD707 and after it."""
    node = chain.source.node
    if not isinstance(node, ast.Call):
        return False
    told = any(isinstance(a, ast.Call) and operation(a) == "InputContext" for a in node.args)
    from_function = "from_function" in operation(node)
    return (
        told
        or from_function
        or any(name.endswith(".shard_dataset") for name in dataset_chains(facts).made(chain.source))
    )


def takes_share(facts: Facts, chain: Chain) -> bool:
    """Whether a dataset ends after a number of elements that is divided by the number of ranks."""
    return any(operation(call) == "take" and by_size(facts, names, call) for names, call in chain.ops)


def by_size(facts: Facts, names: Names, number: ast.expr | None) -> bool:
    """Whether a number, or what it is passed to, is made from the number of ranks."""
    return number is not None and rank_kinds(facts).inside(names, number, "size")


def is_own_part(facts: Facts, names: Names, array: ast.expr) -> bool:
    """Whether an array is this rank's rows: a slice that begins at the rank, or hvd.shard_arrays(...)."""
    if any(name.partition("[")[0].endswith(".shard_arrays") for name in facts.flow.made(names, array)):
        return True
    if isinstance(array, ast.Name):
        values = [_assigned(binding) for binding in names.bindings(array.id, array)]
        return any(isinstance(v, ast.Subscript) and rank_kinds(facts).inside(names, v.slice) for v in values)
    return isinstance(array, ast.Subscript) and rank_kinds(facts).inside(names, array.slice)


def _assigned(binding: Binding) -> ast.expr | None:
    """What an assignment gives a variable: of `x, y = a, b` its own element."""
    value, path = binding.value, binding.path
    if binding.kind != "assign" or len(path) > 1:
        return None
    elements = value.elts if isinstance(value, ast.Tuple) and path else ()
    return elements[path[0]] if elements and path[0] < len(elements) else (None if path else value)
