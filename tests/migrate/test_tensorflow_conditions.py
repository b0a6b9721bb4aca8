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


TOO_EARLY = """\
def show(name, array):
    print(name, array)


show("x", 3)
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model.compile(optimizer=tf.keras.optimizers.SGD(0.01), loss="mse")
model.fit(x, y, batch_size=8)
"""
ONE_BATCH = """\
import tensorflow as tf

def pipeline(rows, size):
    return tf.data.Dataset.from_tensor_slices((rows, rows)).batch(size)

with tf.distribute.MirroredStrategy().scope():
    model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1)])
    model.compile(optimizer=tf.keras.optimizers.SGD(0.01), loss="mse")
model.fit(pipeline(x, 16), validation_data=pipeline(z, {}))
"""
BY_XLA = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model.compile(optimizer=tf.keras.optimizers.SGD(0.01), loss="mse", jit_compile={})
model.fit(x, y, batch_size=8)
"""
AVERAGED = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
average = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
average.{}
optimizer = tf.keras.optimizers.SGD(0.01)
for a, b in tf.data.Dataset.from_tensor_slices((x, y)).batch(8):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(a) - b))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
"""
STARTED = "Horovod is initialized before TensorFlow is used"
STOPPED = {
    "an import below the guard": (TOO_EARLY, STARTED, 2),
    "a batch of one": (ONE_BATCH.format(1), SHARDED, 4),
    "jit_compile": (BY_XLA.format("True"), OPTIMIZER, 4),
    "a copy of the weights": (AVERAGED.format("set_weights(model.get_weights())"), WEIGHTS, 5),
}


@pytest.mark.parametrize("form", STOPPED)
def test_what_stops_or_divides_the_ranks_of_the_result(form: str, tmp_path: Path) -> None:
    """The row names the line of the file as it is: what hvdkit has written may not run, or part the ranks."""
    text, row, line = STOPPED[form]
    (tmp_path / "train.py").write_text(text)
    (program,) = make_plan([tmp_path], Options(target="hvdkit")).programs
    found = {each.name: each for each in program.conditions}[row]
    assert found.state is State.OPEN
    assert [spot.line for spot in found.spots] == [line]


@pytest.mark.parametrize(
    ("text", "row"),
    [
        (ONE_BATCH.format(4), SHARDED),
        (BY_XLA.format("False"), OPTIMIZER),
        (AVERAGED.format("load_weights('average.keras')"), WEIGHTS),
    ],
)
def test_what_does_not(text: str, row: str, tmp_path: Path) -> None:
    """The same programs without it leave the row as it is."""
    (tmp_path / "train.py").write_text(text)
    (program,) = make_plan([tmp_path], Options(target="hvdkit")).programs
    assert {each.name: each.state for each in program.conditions}[row] is State.PROVEN
