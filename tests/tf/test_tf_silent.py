"""What Horovod's own DistributedOptimizer leaves out without a word, as docs/tensorflow.md says."""

from __future__ import annotations

from typing import Any

import horovod.tensorflow as horovods
import horovod.tensorflow.keras as horovods_keras
import keras
import numpy as np
import pytest
import tensorflow as tf

pytestmark = pytest.mark.ranks

KERAS_3 = keras.__version__.startswith("3")


class OwnStep(tf.keras.Model):  # type: ignore[misc]
    """A train_step as Keras' guide writes it."""

    def train_step(self, inputs: Any) -> dict[str, Any]:
        x, y = inputs
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(x, training=True) - y) ** 2)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss}


def ranks_agree(model: Any) -> bool:
    """After a fit with Horovod's optimizer, from equal weights and on data that differs between ranks."""
    x = np.random.default_rng(horovods.rank()).normal(size=(16, 4)).astype("float32")
    model.compile(optimizer=horovods_keras.DistributedOptimizer(tf.keras.optimizers.SGD(0.1)), loss="mse")
    model.fit(x, x.sum(axis=1, keepdims=True), batch_size=8, verbose=0)
    weights = horovods.allgather_object([array.tolist() for array in model.get_weights()])
    return bool(weights[0] == weights[1])


def inputs_and_outputs() -> dict[str, Any]:
    tf.keras.utils.set_random_seed(0)
    inputs = tf.keras.Input((4,))
    return {"inputs": inputs, "outputs": tf.keras.layers.Dense(1)(inputs)}


def test_fit() -> None:
    assert ranks_agree(tf.keras.Model(**inputs_and_outputs())) is not KERAS_3


def test_a_train_step_of_its_own() -> None:
    assert not ranks_agree(OwnStep(**inputs_and_outputs()))
