"""HVD709: the global batch of a strategy becomes the batch of a rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.tensorflow import vocabulary as words
from hvdkit.migrate.facts.tensorflow.datasets import Point, operation
from hvdkit.migrate.facts.values.arguments import keyword
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule
from hvdkit.migrate.tensorflow_edits import divided, is_divided

MESSAGE = "a strategy deals one batch to all replicas: a rank draws its part of it"
BATCHES = ("batch", "padded_batch", "ragged_batch")


def check(facts: Facts) -> Iterator[Finding]:
    if not facts.tf.strategies.made:
        return
    for names, size in dict.fromkeys((*_of_datasets(facts), *_of_sources(facts))):
        if facts.tf.strategic(names) and not is_divided(facts, names, size):
            yield facts.safe("HVD709", names, size, MESSAGE, divided, facts, names, size)
    for call in facts.tf.fits():
        if not facts.tf.strategic(call.names) or call.argument("y") is None or call.spread:
            continue
        given = call.argument("batch_size")
        if given is None:
            text = f"batch_size=32 // {facts.hvd(call.names)}.size()"
            source = call.names.source
            yield facts.safe(
                "HVD709", call.names, call.node, MESSAGE, edits.add_arguments, source, call.node, [text]
            )
        elif not is_divided(facts, call.names, given):
            yield facts.safe("HVD709", call.names, given, MESSAGE, divided, facts, call.names, given)


def _of_datasets(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """Batch sizes on the way of the datasets that train."""
    for drawn in facts.tf.chains.training:
        for chain in drawn.chains:
            for names, call in chain.ops:
                size = keyword(call, "batch_size") or (call.args[0] if call.args else None)
                if operation(call) in BATCHES and size is not None and not isinstance(size, ast.Starred):
                    yield names, size


def _of_sources(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """Batch sizes of sources that give batches."""
    for drawn in facts.tf.chains.training:
        for chain in drawn.chains:
            source: Point = chain.source
            call = source.node
            if facts.tf.chains.made(source) & set(words.SHUFFLED_BATCHES) and isinstance(call, ast.Call):
                size = keyword(call, "batch_size")
                if size is not None:
                    yield source.names, size


HEAD = """\
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile(loss="mse")
"""
HVD = "import horovod.tensorflow.keras as hvd\n"
DATA = "tf.data.Dataset.from_tensor_slices((x, y))"

RULE = Rule(
    id="HVD709",
    title="global batch to per-rank batch",
    what=(
        "Divides by hvd.size() the batch sizes of datasets, and of fit on arrays, that a strategy trained on."
    ),
    why=(
        "Under a strategy `batch(64)` means 64 for all replicas together. Without the division the migrated job "
        "would take a batch as many times larger as it has ranks."
    ),
    safety="Safe: with as many ranks as there were replicas the batches are the same size. It has to divide evenly.",
    check=check,
    changes=(
        Change(
            HEAD + f"size = 64 * strategy.num_replicas_in_sync\nmodel.fit({DATA}.shuffle(100).batch(size))\n",
            HVD
            + HEAD
            + "size = 64 * strategy.num_replicas_in_sync\n"
            + f"model.fit({DATA}.shuffle(100).batch(size // hvd.size()))\n",
        ),
        Change(
            HEAD + f"model.fit({DATA}.batch(64 * strategy.num_replicas_in_sync))\n",
            HVD + HEAD + f"model.fit({DATA}.batch(64 * strategy.num_replicas_in_sync // hvd.size()))\n",
        ),
        Change(
            HEAD + "model.fit(x, y, batch_size=256)\n",
            HVD + HEAD + "model.fit(x, y, batch_size=256 // hvd.size())\n",
        ),
        Change(
            HEAD + "model.fit(x, y, epochs=3)\n",
            HVD + HEAD + "model.fit(x, y, epochs=3, batch_size=32 // hvd.size())\n",
            note="32 is Keras' default.",
        ),
        Change(
            HEAD
            + "\ndef prepare(data, size):\n    return data.shuffle(10).padded_batch(size + 1, drop_remainder=True)\n\n"
            + f"train = prepare({DATA}, 63)\nmodel.fit(train)\n",
            HVD
            + HEAD
            + "\ndef prepare(data, size):\n"
            + "    return data.shuffle(10).padded_batch((size + 1) // hvd.size(), drop_remainder=True)\n\n"
            + f"train = prepare({DATA}, 63)\nmodel.fit(train)\n",
        ),
        Change(
            """\
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()
            train = tf.keras.utils.image_dataset_from_directory("data", batch_size=32 * strategy.num_replicas_in_sync)
            other = tf.keras.utils.image_dataset_from_directory("data", batch_size=64)
            with strategy.scope():
                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                model.compile("sgd", "mse")
            model.fit(train)
            model.fit(other)
            """,
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()
            train = tf.keras.utils.image_dataset_from_directory("data", batch_size=32 * strategy.num_replicas_in_sync // hvd.size())
            other = tf.keras.utils.image_dataset_from_directory("data", batch_size=64 // hvd.size())
            with strategy.scope():
                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                model.compile("sgd", "mse")
            model.fit(train)
            model.fit(other)
            """,
            note="Sources that give batches.",
        ),
    ),
    keeps=(
        Keep(
            "import tensorflow as tf\n\nmodel = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n"
            + f'model.compile(loss="mse")\nmodel.fit({DATA}.batch(64))\n',
            reason="a single-process batch is the batch of one process, and stays that of a rank",
        ),
        Keep(
            HEAD + f"model.fit(train)\nmodel.evaluate({DATA}.batch(64))\n",
            reason="every rank evaluates all of the data, in batches of any size",
        ),
        Keep(
            "import horovod.tensorflow.keras as hvd\n"
            + HEAD
            + f"model.fit({DATA}.batch(64 // hvd.size()))\n",
            reason="it is divided already",
        ),
        Keep(
            """\
            import tensorflow as tf

            train = tf.keras.utils.image_dataset_from_directory("data", batch_size=32)
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.fit(train)
            """,
            reason="without a strategy the batch size of a source is one process's own",
        ),
    ),
)
