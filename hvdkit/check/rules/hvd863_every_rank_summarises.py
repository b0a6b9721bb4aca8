"""HVD863: every rank of a TensorFlow job writes summaries into one folder."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import every_rank_certainly
from hvdkit.check.keras import keras_files
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.tensorflow.saving_calls import summaries
from hvdkit.migrate.plan import Finding


def check(facts: Facts) -> Iterator[Finding]:
    files = keras_files(facts)
    for saved in summaries(facts):
        names, call = saved.names, saved.node
        ranked = rank_kinds(facts).inside(names, names.statement(call))
        if names in files and not ranked and every_rank_certainly(facts, names, call):
            message = (
                "every rank writes its numbers into this folder: TensorBoard shows all of them as one curve"
            )
            advice = "write `... if hvd.rank() == 0 else tf.summary.create_noop_writer()`"
            yield manual("HVD863", names, call, message, advice)


RULE = Rule(
    id="HVD863",
    title="every rank of a TensorFlow job writes summaries",
    what="TensorBoard draws the points of all ranks as one curve that jumps back and forth.",
    why="each process makes an event file of its own in the same folder.",
    safety="Nothing is edited: a folder for each rank may be wanted.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import numpy as np
            import tensorflow as tf

            hvd.init()
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1)), "mse")
            writer = tf.summary.create_file_writer("logs")
            model.fit(data, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])
            """,
            reason="one folder for all ranks",
            reported=True,
        ),
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import numpy as np
            import tensorflow as tf

            hvd.init()
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1)), "mse")
            writer = tf.summary.create_file_writer(f"logs/{hvd.rank()}")
            model.fit(data, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])
            """,
            reason="each rank has a folder",
        ),
    ),
)
