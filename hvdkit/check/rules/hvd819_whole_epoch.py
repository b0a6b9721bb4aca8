"""HVD819: each rank takes as many steps as one process took, on its share of the data."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.keras import keras_files
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.keras.model_calls import keras_calls
from hvdkit.migrate.facts.tensorflow.datasets import dataset_chains
from hvdkit.migrate.facts.tensorflow.own_shares import by_size, is_cut
from hvdkit.migrate.facts.tensorflow.shardable import endless
from hvdkit.migrate.facts.tensorflow.ways import Chain
from hvdkit.migrate.plan import Finding


def check(facts: Facts) -> Iterator[Finding]:
    files = keras_files(facts)
    drawn = {dataset.node: dataset for dataset in dataset_chains(facts).training}
    for call in keras_calls(facts):
        steps, x = call.argument("steps_per_epoch"), call.argument("x")
        dataset = drawn.get(x) if x is not None and call.method == "fit" and call.names in files else None
        if steps is None or dataset is None or by_size(facts, call.names, steps):
            continue
        whole = [chain for chain in dataset.chains if not _small_batches(facts, chain)]
        if whole and all(is_cut(facts, chain) and endless(chain) for chain in dataset.chains):
            message = (
                "an epoch is as many passes over the data as there are ranks: each takes all of the steps"
            )
            advice = "divide the steps of one process by hvd.size()"
            yield manual("HVD819", call.names, steps, message, advice)


def _small_batches(facts: Facts, chain: Chain) -> bool:
    """Whether each rank's batch is its part of the job's: then all take the steps of one process."""
    batches = [chain.ops[at] for at in chain.named("batch")]
    return any(by_size(facts, names, call.args[0]) for names, call in batches if call.args)


RULE = Rule(
    id="HVD819",
    title="steps_per_epoch of one process on every rank",
    what="An epoch takes as long as in one process, and passes over the data N times; rates that follow epochs fall N times too slowly.",
    why="a dataset that repeats has no end: only steps_per_epoch tells how long an epoch is.",
    safety="Nothing is edited: the number may be meant.",
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
            data = tf.data.Dataset.range(640).shard(hvd.size(), hvd.rank()).repeat().batch(8)
            model.fit(data, steps_per_epoch=640 // 8, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])
            """,
            reason="the steps are those of one process",
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
            data = tf.data.Dataset.range(640).shard(hvd.size(), hvd.rank()).repeat().batch(8)
            model.fit(data, steps_per_epoch=640 // 8 // hvd.size(), callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])
            """,
            reason="the ranks share the steps",
        ),
    ),
)
