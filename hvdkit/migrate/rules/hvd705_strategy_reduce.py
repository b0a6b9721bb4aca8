"""HVD705: what strategy.reduce, gather and experimental_local_results gave, Horovod's collectives give."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import required
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.keras.strategies import Use
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.tensorflow_programs import mirrored_strategies
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.tensorflow import tf
from hvdkit.migrate.values.arguments import keyword
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

REDUCE_OP = "tensorflow.distribute.ReduceOp."
KINDS = {"SUM": ("Sum", "reduce_sum"), "MEAN": ("Average", "reduce_mean")}


def check(facts: Facts) -> Iterator[Finding]:
    for use in mirrored_strategies(facts).of("reduce", "gather", "experimental_local_results"):
        message = f"{use.node.attr} over the replicas becomes what Horovod does over the ranks"
        yield required(facts, "HVD705", use.names, use.node, message, _edit, facts, use)


def _edit(facts: Facts, use: Use) -> list[Edit]:
    names, call, hvd = use.names, use.call, horovod_name(facts, use.names)
    assert call is not None
    given = _given(use, call)
    value, axis = given.get("value"), given.get("axis")
    if value is None or any(isinstance(argument, ast.Starred) for argument in call.args):
        raise edits.CannotEdit("its arguments cannot be distinguished")
    if use.node.attr == "experimental_local_results":
        return edits.recast(names.source, call, ["(", value, ",)"])
    if use.node.attr == "gather":
        if not _is_zero(axis):
            raise edits.CannotEdit("hvd.allgather joins along the first axis")
        return edits.recast(names.source, call, [f"{hvd}.allgather(", value, ")"])
    op, function = _reduction(facts, names, given.get("reduce_op"))
    if axis is None or (isinstance(axis, ast.Constant) and axis.value is None):
        return edits.recast(names.source, call, [f"{hvd}.allreduce(", value, f", op={hvd}.{op})"])
    if not _is_zero(axis):
        raise edits.CannotEdit("the axis is not 0")
    text = f"{tf(names)}.{function}({hvd}.allgather("
    return edits.recast(names.source, call, [text, value, "), axis=0)"])


def _given(use: Use, call: ast.Call) -> dict[str, ast.expr]:
    order = ("reduce_op", "value", "axis") if use.node.attr == "reduce" else ("value", "axis")
    named = {item: keyword(call, item) for item in order}
    return {**dict(zip(order, call.args)), **{name: node for name, node in named.items() if node is not None}}


def _reduction(facts: Facts, names: Names, node: ast.expr | None) -> tuple[str, str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        kind = node.value.upper()
    else:
        found = facts.flow.qualified(names, node) if node is not None else frozenset()
        kind = next((name.removeprefix(REDUCE_OP) for name in found if name.startswith(REDUCE_OP)), "")
    if kind not in KINDS:
        raise edits.CannotEdit("the reduction is not written as ReduceOp.SUM or ReduceOp.MEAN")
    return KINDS[kind]


def _is_zero(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0 and node.value is not False


RULE = Rule(
    id="HVD705",
    title="strategy.reduce becomes a collective",
    what=(
        "Rewrites strategy.reduce with SUM or MEAN as hvd.allreduce with op=hvd.Sum or hvd.Average, over "
        "axis 0 as the sum or mean of hvd.allgather; strategy.gather as hvd.allgather; "
        "experimental_local_results as a tuple of one."
    ),
    why="The value of each replica is the value of each rank, and the reduction runs over the job.",
    safety="Safe: the same numbers are added. Another axis or reduction refuses the program.",
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()

            def step(x):
                with tf.GradientTape() as tape:
                    loss = model(x)
                optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
                return loss

            for x in data:
                losses = strategy.run(step, args=(x,))
                total = strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)
            """,
            """\
            import horovod.tensorflow as hvd
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()

            def step(x):
                with tf.GradientTape() as tape:
                    loss = model(x)
                optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
                return loss

            for x in data:
                losses = strategy.run(step, args=(x,))
                total = hvd.allreduce(losses, op=hvd.Sum)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import functools
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()

            def step(x):
                with tf.GradientTape() as tape:
                    loss = model(x)
                optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
                return loss

            for x in data:
                losses = strategy.run(step, args=(x,))
                total = functools.reduce(max, losses)
            """,
            reason="reduce is functools'",
        ),
    ),
)
