"""HVD722: losses that asked TensorFlow for the number of replicas are divided by that of the ranks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import required
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.tensorflow_programs import only_with_strategy
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.tensorflow import is_divided
from hvdkit.migrate.values.arguments import keyword
from hvdkit.source.edits import Edit

AVERAGE = "tensorflow.nn.compute_average_loss"
REGULARIZE = "tensorflow.nn.scale_regularization_loss"


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(AVERAGE, REGULARIZE):
        if not only_with_strategy(facts, site.names) or _has_global_batch(site):
            continue
        parent = site.names.parents[site.node]
        if (
            isinstance(parent, ast.BinOp)
            and parent.left is site.node
            and is_divided(facts, site.names, parent)
        ):
            continue
        message = "TensorFlow divides by its number of replicas, which is one in a rank: divide by hvd.size() instead"
        yield required(facts, "HVD722", site.names, site.node, message, _edit, facts, site)


def _has_global_batch(site: Site) -> bool:
    """Whether the global batch size is given: then it is what it was, and the loss stays the share that it was."""
    given = keyword(site.node, "global_batch_size") or (
        site.node.args[2] if len(site.node.args) > 2 else None
    )
    return site.name == AVERAGE and given is not None


def _edit(facts: Facts, site: Site) -> list[Edit]:
    parent = site.names.parents[site.node]
    divisor = f" / {horovod_name(facts, site.names)}.size()"
    if isinstance(parent, (ast.BinOp, ast.Attribute)):
        return edits.wrap(site.names.source, site.node, "(", f"{divisor})")
    return edits.wrap(site.names.source, site.node, "", divisor)


RULE = Rule(
    id="HVD722",
    title="shares of the loss",
    what=(
        "Divides tf.nn.compute_average_loss without a global_batch_size, and "
        "tf.nn.scale_regularization_loss, by hvd.size() in programs whose strategy is removed."
    ),
    why=(
        "Both divide by the number of replicas that TensorFlow knows, so that the sum over the replicas is "
        "the mean. After the migration TensorFlow knows one replica, and the gradients of the ranks are "
        "still summed (HVD713)."
    ),
    safety="Safe: the divisor is the same number. With a global_batch_size nothing changes: it is the whole job's.",
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()

            def compute(y, out):
                return tf.nn.compute_average_loss(loss(y, out))

            def step(x, y):
                with tf.GradientTape() as tape:
                    loss = compute(y, model(x))
                optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
                return loss

            for x, y in data:
                strategy.run(step, args=(x, y))
            """,
            """\
            import horovod.tensorflow as hvd
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()

            def compute(y, out):
                return tf.nn.compute_average_loss(loss(y, out)) / hvd.size()

            def step(x, y):
                with tf.GradientTape() as tape:
                    loss = compute(y, model(x))
                optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
                return loss

            for x, y in data:
                strategy.run(step, args=(x, y))
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()

            def compute(y, out):
                return tf.nn.compute_average_loss(loss(y, out), global_batch_size=64)

            def step(x, y):
                with tf.GradientTape() as tape:
                    loss = compute(y, model(x))
                optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
                return loss

            for x, y in data:
                strategy.run(step, args=(x, y))
            """,
            reason="the global batch size is given",
        ),
    ),
)
