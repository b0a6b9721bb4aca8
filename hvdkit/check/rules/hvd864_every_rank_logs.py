"""HVD864: every rank of a Keras job has the callbacks that log."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import every_rank_certainly
from hvdkit.check.keras import callbacks, keras_programs, listed
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.plan import Finding


def check(facts: Facts) -> Iterator[Finding]:
    seen = set()
    for program in keras_programs(facts):
        for site in callbacks(facts, program, "TensorBoard", "CSVLogger", "BackupAndRestore"):
            places = listed(site.names, site.node)
            certain = all(every_rank_certainly(facts, site.names, place) for place in places)
            if site.node not in seen and certain and not rank_kinds(facts).inside(site.names, site.node):
                seen.add(site.node)
                message = "every rank writes into the same files: their lines come N times, or torn"
                advice = "append the callback to the list under `if hvd.rank() == 0:`"
                yield manual("HVD864", site.names, site.node, message, advice)


RULE = Rule(
    id="HVD864",
    title="TensorBoard, CSVLogger or BackupAndRestore on every rank",
    what="Each epoch is there N times, or in half lines; a backup that several ranks write may not be read again.",
    why="a callback that is in the list of every rank runs on every rank.",
    safety="Nothing is edited: the callback has to leave the list that all ranks share.",
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
            model.fit(data, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0), tf.keras.callbacks.CSVLogger("loss.csv")])
            """,
            reason="it is in the list of every rank",
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
            callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0)]
            if hvd.rank() == 0:
                callbacks.append(tf.keras.callbacks.CSVLogger("loss.csv"))
            model.fit(data, callbacks=callbacks)
            """,
            reason="rank 0 alone has it",
        ),
    ),
)
