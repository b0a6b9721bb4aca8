"""HVD709: the global batch of a strategy becomes the batch of a rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.tensorflow_programs import (
    migrating_fits,
    mirrored_strategies,
    only_with_strategy,
)
from hvdkit.migrate.facts.tensorflow.datasets import dataset_chains
from hvdkit.migrate.facts.tensorflow.ways import Point, operation
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.tensorflow import divided, is_divided
from hvdkit.migrate.values.arguments import keyword
from hvdkit.source.index.names import Names

MESSAGE = "a strategy splits one batch among all replicas: a rank draws its part of it"
BATCHES = ("batch", "padded_batch", "ragged_batch")


def check(facts: Facts) -> Iterator[Finding]:
    if not mirrored_strategies(facts).made:
        return
    for names, size in dict.fromkeys((*_of_datasets(facts), *_of_sources(facts))):
        if only_with_strategy(facts, names) and not is_divided(facts, names, size):
            yield safe(facts, "HVD709", names, size, MESSAGE, divided, facts, names, size)
    for call in migrating_fits(facts):
        if not only_with_strategy(facts, call.names) or call.argument("y") is None or call.spread:
            continue
        given = call.argument("batch_size")
        if given is None:
            text = f"batch_size=32 // {horovod_name(facts, call.names)}.size()"
            source = call.names.source
            yield safe(
                facts,
                "HVD709",
                call.names,
                call.node,
                MESSAGE,
                edits.add_arguments,
                source,
                call.node,
                [text],
            )
        elif not is_divided(facts, call.names, given):
            yield safe(facts, "HVD709", call.names, given, MESSAGE, divided, facts, call.names, given)


def _of_datasets(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """Batch sizes on the way of the datasets that train."""
    for drawn in dataset_chains(facts).training:
        for chain in drawn.chains:
            for names, call in chain.ops:
                size = keyword(call, "batch_size") or (call.args[0] if call.args else None)
                if operation(call) in BATCHES and size is not None and not isinstance(size, ast.Starred):
                    yield names, size


def _of_sources(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """Batch sizes of sources that give batches."""
    for drawn in dataset_chains(facts).training:
        for chain in drawn.chains:
            source: Point = chain.source
            call = source.node
            if dataset_chains(facts).made(source) & set(words.SHUFFLED_BATCHES) and isinstance(
                call, ast.Call
            ):
                size = keyword(call, "batch_size")
                if size is not None:
                    yield source.names, size


RULE = Rule(
    id="HVD709",
    title="global batch to per-rank batch",
    what=(
        "Divides by hvd.size() the batch sizes of datasets, and of fit on arrays, that a strategy trained on."
    ),
    why=(
        "Under a strategy `batch(64)` means 64 for all replicas together. Without the division the "
        "migrated job's batch would be size() times larger."
    ),
    safety="Safe: with as many ranks as there were replicas the batches are the same size. It has to divide evenly.",
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()
            with strategy.scope():
                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                model.compile(loss="mse")
            size = 64 * strategy.num_replicas_in_sync
            model.fit(tf.data.Dataset.from_tensor_slices((x, y)).shuffle(100).batch(size))
            """,
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()
            with strategy.scope():
                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                model.compile(loss="mse")
            size = 64 * strategy.num_replicas_in_sync
            model.fit(tf.data.Dataset.from_tensor_slices((x, y)).shuffle(100).batch(size // hvd.size()))
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(64))
            """,
            reason="a single-process batch is the batch of one process, and stays that of a rank",
        ),
    ),
)
