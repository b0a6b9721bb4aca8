"""Text that gives each rank its own share of what it trains on: of a tf.data pipeline, or of arrays."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.keras_versions import target_of
from hvdkit.migrate.facts.tensorflow.datasets import countless
from hvdkit.migrate.facts.tensorflow.shardable import endless
from hvdkit.migrate.facts.tensorflow.ways import Chain, Point
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names


def shard(facts: Facts, chain: Chain, point: Point) -> list[Edit]:
    """A pipeline cut at a point, and filled up first so that every rank gets as many elements."""
    names, hvd = point.names, horovod_name(facts, point.names)
    if target_of(facts, names) == "hvdkit":
        return edits.appended(names.source, point.node, f".apply({hvd}.shard_dataset)")
    share = f".shard({hvd}.size(), {hvd}.rank())"
    if endless(chain) and countless(facts, chain, point.before):
        return edits.appended(names.source, point.node, share)  # nothing to fill up
    full = f"data.concatenate(data.repeat().take(-data.cardinality() % {hvd}.size()))"
    return edits.appended(names.source, point.node, f".apply(lambda data: {full}{share})")


def slices(facts: Facts, names: Names, arrays: Sequence[ast.expr]) -> list[Edit]:
    """All of what fit is given, or nothing: rows of inputs and targets belong together."""
    return [one for array in arrays for one in _slice(facts, names, array)]


def _slice(facts: Facts, names: Names, array: ast.expr) -> list[Edit]:
    hvd, text = horovod_name(facts, names), names.source.segment(array)
    if target_of(facts, names) == "hvdkit":
        return edits.wrap(names.source, array, f"{hvd}.shard_arrays(", ")")
    if not isinstance(array, (ast.Name, ast.Attribute, ast.Subscript)):
        raise edits.CannotEdit("it is computed in the call, and getting its length would compute it twice")
    even = f"len({text}) // {hvd}.size() * {hvd}.size()"
    return edits.appended(names.source, array, f"[{hvd}.rank() : {even} : {hvd}.size()]")
