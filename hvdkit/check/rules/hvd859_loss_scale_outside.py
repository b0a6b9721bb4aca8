"""HVD859: a loss scale around the optimizer of Horovod."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import mentioned
from hvdkit.check.keras import KERAS_2, keras_programs
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import given

SCALES = (
    "keras.mixed_precision.LossScaleOptimizer",
    "keras.mixed_precision.experimental.LossScaleOptimizer",
    "keras.optimizers.LossScaleOptimizer",
)


def check(facts: Facts) -> Iterator[Finding]:
    files = frozenset().union(
        *(program.files for program in keras_programs(facts) if not mentioned(program, *KERAS_2))
    )
    for site in facts.calls(*SCALES):
        inner = given(site.node, 0, "inner_optimizer")
        if (
            site.names in files
            and inner is not None
            and facts.flow.made(site.names, inner) & words.OPTIMIZERS
        ):
            message = "under Keras 3 a loss scale around Horovod's optimizer calls nothing of it that reduces gradients"
            advice = "with hvdkit.tensorflow.keras write hvd.DistributedOptimizer(LossScaleOptimizer(...))"
            yield manual("HVD859", site.names, site.node, message, advice)


RULE = Rule(
    id="HVD859",
    title="a loss scale around the optimizer of Horovod",
    what="Under Keras 3 each rank trains a different model: the loss scale hands gradients to a method that reduces nothing. Under Keras 2 this order is correct.",
    why="the loss scale of Keras 3 no longer calls the methods that Horovod's wrapper overrides.",
    safety="Nothing is edited: the order can be turned around only with the optimizer of hvdkit, which is right under both.",
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
            optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1))
            model.compile(tf.keras.mixed_precision.LossScaleOptimizer(optimizer), "mse")
            model.fit(data, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])
            """,
            reason="the scale is outside",
            reported=True,
        ),
        Keep(
            """\
            import hvdkit.tensorflow.keras as hvd
            import numpy as np
            import tensorflow as tf

            hvd.init()
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            optimizer = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD(0.1))
            model.compile(hvd.DistributedOptimizer(optimizer), "mse")
            model.fit(data, callbacks=hvd.callbacks())
            """,
            reason="the reduction is outside",
        ),
    ),
)
