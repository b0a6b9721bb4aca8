"""HVD862: every rank of a TensorFlow job saves the same model."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import every_rank_certainly
from hvdkit.check.keras import keras_files
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.tensorflow.saving_calls import saves
from hvdkit.migrate.plan import Finding


def check(facts: Facts) -> Iterator[Finding]:
    files = keras_files(facts)
    for saved in saves(facts):
        names, call = saved.names, saved.node
        if (
            names in files
            and not rank_kinds(facts).inside(names, call)
            and every_rank_certainly(facts, names, call)
        ):
            message = (
                f"every rank writes the file of this {saved.what} at the same time: what is left may be torn"
            )
            yield manual("HVD862", names, call, message, "put it under `if hvd.rank() == 0:`")


RULE = Rule(
    id="HVD862",
    title="every rank of a TensorFlow job saves",
    what="The ranks write one file at the same time. Mostly the last one wins; sometimes it cannot be read again.",
    why="a statement of the script runs on every rank.",
    safety="Nothing is edited: what is computed beside it may be needed on all ranks.",
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
            model.fit(data, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])
            model.save("model.h5")
            """,
            reason="all ranks save",
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
            model.fit(data, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])
            if hvd.rank() == 0:
                model.save("model.h5")
            """,
            reason="rank 0 saves",
        ),
    ),
)
