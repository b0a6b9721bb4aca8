"""On 2 ranks: every way to update weights is migrated, and ranks that begin apart end with equal weights."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import horovod.tensorflow as horovod
import keras
import numpy as np
import pytest
import tensorflow as tf

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options

pytestmark = pytest.mark.ranks

KERAS_3 = keras.__version__.startswith("3")
HEAD = """\
import numpy as np
import tensorflow as tf

x, y = np.random.rand(32, 4).astype("float32"), np.random.rand(32, 1).astype("float32")
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(4)
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.1)

def mean(x, y):
    return tf.reduce_mean((model(x) - y) ** 2)

"""
TAPE = """\
    with tf.GradientTape() as tape:
        loss = mean(x, y)
    gradients = tape.gradient(loss, model.trainable_variables)
"""
NET = """\
class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.dense(x)

"""
PROGRAMS = {
    "apply_gradients": HEAD
    + "for x, y in data:\n"
    + TAPE
    + "    optimizer.apply_gradients(zip(gradients, model.trainable_variables))\n",
    "clipped and scaled": HEAD
    + "for x, y in data:\n"
    + TAPE
    + "    gradients, norm = tf.clip_by_global_norm(gradients, 1.0)\n"
    + "    gradients = [gradient * 0.5 for gradient in gradients]\n"
    + "    optimizer.apply_gradients(zip(gradients, model.trainable_variables))\n",
    "added up in variables": HEAD
    + "sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]\n"
    + "for i, (x, y) in enumerate(data):\n"
    + TAPE
    + "    for total, gradient in zip(sums, gradients):\n"
    + "        total.assign_add(gradient)\n"
    + "    if i % 2 == 1:\n"
    + "        optimizer.apply_gradients(zip(sums, model.trainable_variables))\n"
    + "        for total in sums:\n"
    + "            total.assign(tf.zeros_like(total))\n",
    "taken in one function and applied in another": HEAD
    + "def take(x, y):\n"
    + TAPE
    + "    return gradients\n\n"
    + "@tf.function\ndef update(x, y):\n"
    + "    optimizer.apply_gradients(zip(take(x, y), model.trainable_variables))\n\n"
    + "for x, y in data:\n    update(x, y)\n",
    "train_on_batch": HEAD
    + 'model.compile("adam", "mse")\nfor x, y in data:\n    model.train_on_batch(x, y)\n',
    "a train_on_batch of its own": HEAD.replace("model = ", "unused = ")
    + NET
    + "    def train_on_batch(self, x, y):\n"
    + "        with tf.GradientTape() as tape:\n"
    + "            loss = tf.reduce_mean((self(x) - y) ** 2)\n"
    + "        gradients = tape.gradient(loss, self.trainable_variables)\n"
    + "        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))\n\n"
    + "model = Net()\nmodel.compile(optimizer)\nfor x, y in data:\n    model.train_on_batch(x, y)\n",
    "a fit of its own": HEAD.replace("model = ", "unused = ")
    + NET
    + "    def fit(self, data, epochs):\n"
    + "        for x, y in data.repeat(epochs):\n"
    + "            with tf.GradientTape() as tape:\n"
    + "                loss = tf.reduce_mean((self(x) - y) ** 2)\n"
    + "            gradients = tape.gradient(loss, self.trainable_variables)\n"
    + "            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))\n\n"
    + "model = Net()\nmodel.compile(optimizer)\nmodel.fit(data, 2)\n",
    "two optimizers": HEAD
    + "other = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])\n"
    + "second = tf.keras.optimizers.SGD(0.1)\n"
    + "for x, y in data:\n"
    + "    with tf.GradientTape(persistent=True) as tape:\n"
    + "        loss, far = mean(x, y), tf.reduce_mean((other(x) - model(x)) ** 2)\n"
    + "    gradients = tape.gradient(loss, model.trainable_variables)\n"
    + "    optimizer.apply_gradients(zip(gradients, model.trainable_variables))\n"
    + "    gradients = tape.gradient(far, other.trainable_variables)\n"
    + "    second.apply_gradients(zip(gradients, other.trainable_variables))\n",
    "a train_step of its own": HEAD.replace("model = ", "unused = ")
    + NET
    + "    def train_step(self, batch):\n"
    + "        x, y = batch\n"
    + "        with tf.GradientTape() as tape:\n"
    + "            loss = tf.reduce_mean((self(x) - y) ** 2)\n"
    + "        gradients = tape.gradient(loss, self.trainable_variables)\n"
    + "        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))\n"
    + '        return {"loss": loss}\n\n'
    + "model = Net()\nmodel.compile(optimizer)\nmodel.fit(data, verbose=0)\n",
}
ONLY_KERAS_2 = {
    "minimize": HEAD
    + "for x, y in data:\n    optimizer.minimize(lambda: mean(x, y), model.trainable_variables)\n",
    "minimize beside a tape": HEAD
    + "@tf.function\ndef step(x, y):\n"
    + "    with tf.GradientTape() as tape:\n        loss = mean(x, y)\n"
    + "    optimizer.minimize(loss, model.trainable_variables, tape=tape)\n\n"
    + "for x, y in data:\n    step(x, y)\n",
    "compute_gradients": HEAD
    + "for x, y in data:\n"
    + "    pairs = optimizer.compute_gradients(lambda: mean(x, y), model.trainable_variables)\n"
    + "    optimizer.apply_gradients(pairs)\n",
}
ONLY_KERAS_3 = {
    "apply": HEAD
    + "for x, y in data:\n"
    + TAPE
    + "    optimizer.apply(gradients, model.trainable_variables)\n",
}
ALL = {**PROGRAMS, **(ONLY_KERAS_3 if KERAS_3 else ONLY_KERAS_2)}


@pytest.mark.parametrize("name", ALL)
def test_the_ranks_end_with_equal_weights(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "train.py"
    script.write_text(ALL[name])
    plan = make_plan([tmp_path], Options("hvdkit"))
    (file,) = plan.files
    assert "hvd.DistributedGradientTape(" in file.after or "hvd.DistributedOptimizer(" in file.after
    script.write_text(file.after)
    monkeypatch.chdir(tmp_path)
    keras.utils.set_random_seed(horovod.rank() + 1)
    horovod.init()
    variables: dict[str, Any] = runpy.run_path(str(script), run_name="__main__")
    weights = [np.asarray(weight).tolist() for weight in variables["model"].get_weights()]
    first, second = horovod.allgather_object((weights, tf.executing_eagerly()))
    assert first == second
    assert any(np.any(np.asarray(weight)) for weight in weights)
