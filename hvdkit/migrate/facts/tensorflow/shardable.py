"""Where what a model trains on can be cut into shares, and why it cannot."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.programs.keras_versions import target_of
from hvdkit.migrate.facts.tensorflow.datasets import countless, dataset_chains, disorder
from hvdkit.migrate.facts.tensorflow.ways import Chain, Point, operation
from hvdkit.migrate.values.arguments import keyword
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names


def cut_at(facts: Facts, chain: Chain) -> Point | None:
    """The last expression before the elements are mixed that no dataset for evaluation passes.

    Where those pass the first mixing, too, the last one before the next: skip and take count the same
    then. What only changes or keeps each element comes after it: no rank decodes or caches another's share.
    """
    wanted = (*words.ORDERING, *words.BATCHING)
    mixing = [i for i, (_, call) in enumerate(chain.ops) if operation(call) in wanted]
    free = [point for point in chain.points if not dataset_chains(facts).shared(point)]
    if not free:
        return None
    least = min(point.before for point in free)
    first = next((i for i in mixing if i >= least), len(chain.ops))
    while first > least and operation(chain.ops[first - 1][1]) in words.EACH:
        first -= 1
    before = [point for point in free if point.before <= first]
    return max(before, key=lambda point: (point.before, chain.points.index(point)))


def cut_for_all(facts: Facts, chains: Sequence[Chain]) -> dict[Chain, Point] | None:
    """Where each way to one dataset is cut, and none is cut twice; None where no place is right for all.

    `if shuffle: data = data.shuffle(...)` above `data.batch(8)` makes two ways, which both pass the second.
    """
    chosen = {chain: point for chain in chains if (point := cut_at(facts, chain)) is not None}
    nodes = {point.node for point in chosen.values()}
    if all(len(nodes & chain.passed) <= 1 for chain in chains):
        return chosen
    places = [{point.node: point for point in _before_mixing(facts, chain)} for chain in chains]
    common = [point for node, point in places[0].items() if all(node in place for place in places)]
    if not common:
        return None
    node = max(common, key=lambda point: point.before).node
    return {chain: place[node] for chain, place in zip(chains, places)}


def _before_mixing(facts: Facts, chain: Chain) -> list[Point]:
    """The expressions before the elements are mixed first that no dataset for evaluation passes."""
    wanted = (*words.ORDERING, *words.BATCHING)
    first = next((i for i, (_, call) in enumerate(chain.ops) if operation(call) in wanted), len(chain.ops))
    points = [point for point in chain.points if point.before <= first]
    return [point for point in points if not dataset_chains(facts).shared(point)]


def why_not_cut(facts: Facts, chain: Chain) -> str:
    """Why a pipeline cannot be cut; "" when it can."""
    if chain.lost:
        line = chain.source.names.line(chain.source.node)
        return f"it could not be followed, line {line}: too many ways lead there"
    point = cut_at(facts, chain)
    if point is None:
        return "a dataset that is not for training uses the same code"
    why = disorder(facts, chain, point.before) or _unequal(facts, chain, point)
    if not dataset_chains(facts).is_dataset(chain.source):
        why = why or "the order of its elements is not known"
    return why


def shuffled_where_read(facts: Facts, chain: Chain) -> Value | None:
    """The call that shuffles and batches a source, where hvd.shard_dataset could not cut it before."""
    if target_of(facts, chain.source.names) == "horovod":
        return None
    for value in dataset_chains(facts).origins(chain.source):
        if value.name.partition("[")[0] in words.SHUFFLED_BATCHES and isinstance(value.node, ast.Call):
            told = keyword(value.node, "shuffle")
            if not (isinstance(told, ast.Constant) and told.value is False):
                return value
    return None


def _unequal(facts: Facts, chain: Chain, point: Point) -> str:
    """A dataset without a known length is cut evenly where it has no end, and by hvd.shard_dataset."""
    why = countless(facts, chain, point.before)
    if not why or target_of(facts, point.names) == "hvdkit" or endless(chain):
        return ""
    return f"its length is not known ({why}), and ranks with more batches would block forever"


def endless(chain: Chain) -> bool:
    """Whether a pipeline is repeated without end."""
    return any(not (chain.ops[i][1].args or chain.ops[i][1].keywords) for i in chain.named("repeat"))


def several_inputs(facts: Facts, names: Names, x: ast.expr) -> bool:
    """Whether what fit is given may be several arrays at once."""
    return any(_holds_several(value) for value in facts.flow.values(names, x))


def _holds_several(value: Value) -> bool:
    """Whether a value is a dict or a list of arrays: its slice is another thing."""
    node = value.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("dict", "list", "tuple") and not value.names.bindings(node.func.id, node)
    return isinstance(node, (ast.Dict, ast.DictComp, ast.List, ast.ListComp, ast.Tuple))
