"""HVD895: callbacks that decide by a metric, each rank by its own."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import mentioned
from hvdkit.check.keras import callbacks, keras_programs
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding

SAME = ("MetricAverageCallback", "allreduce", "on_epoch_end")


def check(facts: Facts) -> Iterator[Finding]:
    seen = set()
    for program in keras_programs(facts):
        if mentioned(program, *SAME):
            continue
        for site in callbacks(facts, program, "EarlyStopping", "ReduceLROnPlateau"):
            if site.node not in seen:
                seen.add(site.node)
                message = (
                    "each rank decides by its own metric: one stops, or slows down, and the others do not"
                )
                advice = "put hvd.callbacks.MetricAverageCallback() before it in the list"
                yield manual("HVD895", site.names, site.node, message, advice)


RULE = Rule(
    id="HVD895",
    title="EarlyStopping or ReduceLROnPlateau without MetricAverageCallback",
    what=(
        "EarlyStopping ends one rank an epoch before the others, which then block forever. ReduceLROnPlateau "
        "gives the ranks different learning rates, and so different weights."
    ),
    why="Keras computes metrics in each process; Horovod averages them only with MetricAverageCallback.",
    safety="Nothing is edited: the callback has to come before those that read the metrics.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            hvd.init()
            model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.Adam()), "mse")
            callbacks = [tf.keras.callbacks.EarlyStopping(monitor="loss")]
            model.fit(data, callbacks=callbacks)
            """,
            reason="the loss is each rank's own",
            reported=True,
        ),
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            hvd.init()
            model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.Adam()), "mse")
            callbacks = [hvd.callbacks.MetricAverageCallback(), tf.keras.callbacks.EarlyStopping(monitor="loss")]
            model.fit(data, callbacks=callbacks)
            """,
            reason="the metrics are averaged first",
        ),
    ),
)
