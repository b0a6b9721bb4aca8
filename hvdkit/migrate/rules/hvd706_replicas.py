"""HVD706: strategy.num_replicas_in_sync becomes hvd.size()."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.tensorflow_programs import mirrored_strategies
from hvdkit.migrate.plan import Finding


def check(facts: Facts) -> Iterator[Finding]:
    for use in mirrored_strategies(facts).of("num_replicas_in_sync"):
        text = f"{horovod_name(facts, use.names)}.size()"
        message = f"as many replicas as ranks: {text}"
        yield safe(
            facts, "HVD706", use.names, use.node, message, edits.replace, use.names.source, use.node, text
        )


RULE = Rule(
    id="HVD706",
    title="replicas become ranks",
    what="Rewrites strategy.num_replicas_in_sync as hvd.size().",
    why="Batch sizes and learning rates are multiplied by it: after the migration a rank is a replica.",
    safety="Safe: start as many processes as there were replicas, and every number is what it was.",
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()
            BATCH_SIZE = 64 * strategy.num_replicas_in_sync
            print("Number of devices: {}".format(strategy.num_replicas_in_sync))
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.fit(data)
            """,
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()
            BATCH_SIZE = 64 * hvd.size()
            print("Number of devices: {}".format(hvd.size()))
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.fit(data)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import tensorflow as tf

            strategy = tf.distribute.get_strategy()
            scale = 1 / strategy.num_replicas_in_sync
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.fit(x, y)
            """,
            reason="the default strategy has one replica, before and after",
        ),
    ),
)
