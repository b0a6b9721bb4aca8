"""The post-conditions of TensorFlow programs that were written for Horovod: right ones leave nothing open."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import State

DEVICE = "each process has its own device"
SHARDED = "training data is sharded by rank"
OPTIMIZER = "every optimizer averages gradients"
WEIGHTS = "ranks start from the same weights"

START = """\
import tensorflow as tf
import horovod.tensorflow.keras as hvd

hvd.init()
gpus = tf.config.list_physical_devices("GPU")
if gpus:
    tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
"""
# As horovod/examples/tensorflow2/tensorflow2_keras_mnist.py: every rank shuffles all of the data its own way.
FIT = (
    START
    + """\
data = tf.data.Dataset.from_tensor_slices((x, y)).repeat().shuffle(10000).batch(128)
model.compile(optimizer=hvd.DistributedOptimizer(tf.keras.optimizers.Adam(0.001 * hvd.size())), loss="mse")
callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0)]
model.fit(data, steps_per_epoch=500 // hvd.size(), callbacks=callbacks, epochs=24)
"""
)
# As tensorflow2_mnist.py.
LOOP = (
    START.replace("horovod.tensorflow.keras", "horovod.tensorflow")
    + """\
opt = tf.keras.optimizers.Adam(0.001 * hvd.size())
data = tf.data.Dataset.from_tensor_slices((x, y)).repeat().shuffle(10000).batch(128)
for batch, (images, labels) in enumerate(data.take(10000 // hvd.size())):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(images) - labels) ** 2)
    tape = hvd.DistributedGradientTape(tape)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    if batch == 0:
        hvd.broadcast_variables(model.variables, root_rank=0)
        hvd.broadcast_variables(opt.variables, root_rank=0)
"""
)
# As keras/keras_imagenet_resnet50.py.
ITERATOR = (
    START
    + """\
data = tf.keras.preprocessing.image.ImageDataGenerator().flow_from_directory("train", batch_size=32)
model.compile(optimizer=hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1)), loss="mse")
callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0)]
model.fit(data, steps_per_epoch=len(data) // hvd.size(), callbacks=callbacks)
"""
)
# As tensorflow/tensorflow_mnist.py and tensorflow_word2vec.py: a graph and a session.
GRAPH = """\
import tensorflow as tf
import horovod.tensorflow as hvd

hvd.init()
opt = hvd.DistributedOptimizer(tf.train.AdamOptimizer(0.001 * hvd.size()))
train_op = opt.minimize(loss)
config = tf.ConfigProto()
config.gpu_options.visible_device_list = str(hvd.local_rank())
with tf.train.MonitoredTrainingSession(hooks=[hvd.BroadcastGlobalVariablesHook(0)], config=config) as session:
    while not session.should_stop():
        session.run(train_op)
"""


def states(folder: Path, text: str) -> dict[str, State]:
    """The state of each row, with no rule applied."""
    (folder / "train.py").write_text(text)
    (program,) = make_plan([folder / "train.py"], Options(select=("none",))).programs
    assert program.kind == "tf-horovod"
    return {row.name: row.state for row in program.conditions}


@pytest.mark.parametrize(
    "text",
    [
        FIT,
        LOOP,
        ITERATOR,
        GRAPH,
        GRAPH.replace("hvd.BroadcastGlobalVariablesHook(0)", "").replace(
            "    while", "    session.run(hvd.broadcast_global_variables(0))\n    while"
        ),
    ],
    ids=["fit", "loop", "iterator", "graph", "graph, broadcast by hand"],
)
def test_a_right_program_of_horovod_has_no_open_row(text: str, tmp_path: Path) -> None:
    assert State.OPEN not in states(tmp_path, text).values()


@pytest.mark.parametrize(
    ("text", "row"),
    [
        (FIT.replace("500 // hvd.size()", "500"), SHARDED),
        (FIT.replace("shuffle(10000)", "shuffle(10000, seed=1)"), SHARDED),
        (FIT.replace(".shuffle(10000)", ""), SHARDED),
        (FIT.replace("hvd.init()\n", "hvd.init()\ntf.random.set_seed(1)\n"), SHARDED),
        (LOOP.replace(" // hvd.size()", ""), SHARDED),
        (LOOP.replace("shuffle(10000)", "shuffle(10000, 1)"), SHARDED),
        (ITERATOR.replace(" // hvd.size()", ""), SHARDED),
        (ITERATOR.replace("batch_size=32", "batch_size=32, seed=1"), SHARDED),
        (GRAPH.replace("hvd.BroadcastGlobalVariablesHook(0)", ""), WEIGHTS),
        (GRAPH.replace("hvd.local_rank()", "0"), DEVICE),
        (
            GRAPH.replace("hvd.DistributedOptimizer(tf.train.AdamOptimizer(0.001 * hvd.size()))", "make()"),
            OPTIMIZER,
        ),
        (GRAPH + "tf.keras.optimizers.SGD(0.1).apply_gradients(read())\n", OPTIMIZER),
    ],
)
def test_one_row_is_open(text: str, row: str, tmp_path: Path) -> None:
    found = states(tmp_path, text)
    assert [name for name, state in found.items() if state is State.OPEN] == [row]
