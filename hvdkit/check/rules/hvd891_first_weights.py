"""HVD891: the ranks of a TensorFlow job begin with different weights."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import calls_in, mentioned
from hvdkit.check.keras import keras_programs
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding

# What gives every rank the same weights, or may.
SHARES = ("roadcast", "load_weights", "load_model", "set_seed", "set_random_seed", "weights=", "elastic")
MORE = ("restore(", "set_weights", "allgather", "Estimator", "MonitoredTrainingSession", "hub.")


def check(facts: Facts) -> Iterator[Finding]:
    seen = set()
    for program in keras_programs(facts):
        if mentioned(program, *SHARES, *MORE):
            continue
        for site in calls_in(facts, program, "DistributedOptimizer", "DistributedGradientTape"):
            if site.node not in seen:
                seen.add(site.node)
                message = "no broadcast, no common seed: the ranks start from different weights and never synchronize"
                advice = (
                    "give fit() hvd.callbacks.BroadcastGlobalVariablesCallback(0), or call "
                    "hvd.broadcast_variables(model.variables, root_rank=0) after the first step"
                )
                yield manual("HVD891", site.names, site.node, message, advice)


RULE = Rule(
    id="HVD891",
    title="the initial weights of a TensorFlow job are not broadcast",
    what=(
        "Gradients of unrelated models are averaged. The loss falls more slowly than it should; rank "
        "0's model is not the one that was trained."
    ),
    why="each process draws its own initial weights, and Horovod averages gradients, never weights.",
    safety="Nothing is edited: it takes a callback, or a line after the first step, depending on how the program trains.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            hvd.init()
            model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.Adam()), "mse")
            model.fit(data, epochs=3)
            """,
            reason="nothing is sent",
            reported=True,
        ),
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            hvd.init()
            model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.Adam()), "mse")
            model.fit(data, epochs=3, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])
            """,
            reason="the callback sends rank 0's weights",
        ),
    ),
)
