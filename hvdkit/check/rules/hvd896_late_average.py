"""HVD896: metrics are averaged after the callback that decides by them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import called
from hvdkit.check.keras import callbacks, keras_programs
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values import vocabulary as words


def check(facts: Facts) -> Iterator[Finding]:
    seen = set()
    averages = called(facts, "callbacks.MetricAverageCallback", modules=words.HOROVOD_TENSORFLOW)
    for program in keras_programs(facts):
        for site in callbacks(facts, program, "EarlyStopping", "ReduceLROnPlateau"):
            row = site.names.parents.get(site.node)
            if isinstance(row, ast.List) and site.node not in seen:
                later = row.elts[row.elts.index(site.node) + 1 :]
                if any(average.node in later for average in averages):
                    seen.add(site.node)
                    message = (
                        "this callback runs before the metrics are averaged: each rank decides by its own"
                    )
                    advice = "put hvd.callbacks.MetricAverageCallback() before it in the list"
                    yield manual("HVD896", site.names, site.node, message, advice)


RULE = Rule(
    id="HVD896",
    title="MetricAverageCallback after the callback that needs it",
    what="The same as without it: one rank stops before the others, which then block forever, or learning rates diverge.",
    why="Keras runs callbacks in the order of the list.",
    safety="Nothing is edited: other callbacks in between may depend on the order, too.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            hvd.init()
            model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.Adam()), "mse")
            callbacks = [tf.keras.callbacks.ReduceLROnPlateau(), hvd.callbacks.MetricAverageCallback()]
            model.fit(data, callbacks=callbacks)
            """,
            reason="the average is too late",
            reported=True,
        ),
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            hvd.init()
            model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.Adam()), "mse")
            callbacks = [hvd.callbacks.MetricAverageCallback(), tf.keras.callbacks.ReduceLROnPlateau()]
            model.fit(data, callbacks=callbacks)
            """,
            reason="the average comes first",
        ),
    ),
)
