"""HVD856: the state of an optimizer is broadcast before its first step makes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import calls_in, mentioned
from hvdkit.check.keras import keras_programs
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.keras.keras_optimizers import is_optimizer
from hvdkit.migrate.facts.programs.tensorflow_programs import training_step_loops
from hvdkit.migrate.plan import Finding


def check(facts: Facts) -> Iterator[Finding]:
    for program in keras_programs(facts):
        if mentioned(program, ".build(", "restore(", "load_model"):
            continue
        loops = [loop for loop in training_step_loops(facts) if loop.names in program.files]
        for site in calls_in(facts, program, "broadcast_variables"):
            names, given = site.names, site.node.args[0] if site.node.args else None
            held = given.func if isinstance(given, ast.Call) else given
            if not isinstance(held, ast.Attribute) or held.attr != "variables":
                continue
            statement = names.statement(site.node)
            below = [
                loop
                for loop in loops
                if loop.names is names
                and names.parents.get(loop.node) is names.parents.get(statement)
                and loop.node.lineno > statement.lineno
            ]
            if below and is_optimizer(facts, names, held.value):
                message = "this optimizer has no state before its first step: nothing is sent here"
                advice = "call it after the first step, outside any tf.function"
                yield manual("HVD856", names, site.node, message, advice)


RULE = Rule(
    id="HVD856",
    title="an optimizer is broadcast before it has a state",
    what="Nothing is sent: an optimizer of Keras makes its slots in the first step. A rank that goes on from a state of its own keeps it.",
    why="broadcast_variables sends the variables that there are at that moment.",
    safety="Nothing is edited: the call has to move into the loop.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.tensorflow as hvd
            import tensorflow as tf

            hvd.init()
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            optimizer = tf.keras.optimizers.Adam()
            hvd.broadcast_variables(optimizer.variables(), root_rank=0)
            for x, y in data:
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((model(x) - y) ** 2)
                tape = hvd.DistributedGradientTape(tape)
                optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
            """,
            reason="the slots come with the first step",
            reported=True,
        ),
        Keep(
            """\
            import horovod.tensorflow as hvd
            import tensorflow as tf

            hvd.init()
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            optimizer = tf.keras.optimizers.Adam()
            for x, y in data:
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((model(x) - y) ** 2)
                tape = hvd.DistributedGradientTape(tape)
                optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
                if optimizer.iterations == 1:
                    hvd.broadcast_variables(optimizer.variables(), root_rank=0)
            """,
            reason="they are there after the step",
        ),
    ),
)
