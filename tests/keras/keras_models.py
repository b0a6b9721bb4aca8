"""Small models, data that differs between ranks, and the same training in one process to compare with."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

import hvdkit.keras as hvd
from hvdkit.keras.backend import BACKEND, keras

ROWS, BATCH = 32, 8
TOLERANCE = {"rtol": 1e-4, "atol": 1e-6}  # sums of float32 in another order


def data(rank: int) -> tuple[np.ndarray, np.ndarray]:
    """(ROWS, 4) inputs and (ROWS, 1) targets of a rank."""
    x = np.random.default_rng(rank).normal(size=(ROWS, 4)).astype("float32")
    return x, x.sum(axis=1, keepdims=True)


def everybodys(size: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of all ranks in the order of one process with batches of BATCH * size."""
    shares = [data(rank) for rank in range(size)]
    return tuple(  # type: ignore[return-value]
        np.concatenate(
            [share[part][i : i + BATCH] for i in range(0, ROWS, BATCH) for share in shares],
        )
        for part in (0, 1)
    )


def mlp(seed: int = 0) -> Any:
    """A model of two layers with its weights."""
    keras.utils.set_random_seed(seed)
    return keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)]
    )


def compiled(model: Any, optimizer: Any, **settings: Any) -> Any:
    model.compile(optimizer=optimizer, loss="mse", **settings)
    return model


def fit(model: Any, x: Any, y: Any, batch_size: int = BATCH, epochs: int = 2, **settings: Any) -> Any:
    """Batches in the order of the rows. Returns the history."""
    return model.fit(x, y, batch_size=batch_size, epochs=epochs, shuffle=False, verbose=0, **settings)


def trained_alone(optimizer: Any) -> list[np.ndarray]:
    """The weights after one process has trained rank 0's model on the batches of all ranks."""
    model = compiled(mlp(seed=0), optimizer)
    fit(model, *everybodys(hvd.size()), batch_size=BATCH * hvd.size())
    return list(model.get_weights())


def trained_together(optimizer: Any, **settings: Any) -> list[np.ndarray]:
    """The weights of this rank after a job, started from another model on each rank."""
    model = compiled(mlp(seed=hvd.rank()), optimizer, **settings)
    fit(model, *data(hvd.rank()), callbacks=hvd.callbacks())
    return list(model.get_weights())


def digest(weights: list[np.ndarray]) -> str:
    return hashlib.sha256(b"".join(array.tobytes() for array in weights)).hexdigest()


def equal_on_all_ranks(weights: list[np.ndarray]) -> bool:
    return len(set(hvd.allgather_object(digest(weights)))) == 1


def close(ours: list[np.ndarray], theirs: list[np.ndarray], **tolerance: float) -> bool:
    pairs = zip(ours, theirs)
    return all(np.allclose(a, b, **(tolerance or TOLERANCE)) for a, b in pairs)


if BACKEND == "tensorflow":
    import tensorflow as tf

    class OwnStep(keras.Model):  # type: ignore[misc, name-defined]
        """A model with a train_step of its own, as Keras' guide writes it for TensorFlow."""

        def train_step(self, inputs: Any) -> dict[str, Any]:
            x, y = inputs
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self(x, training=True) - y) ** 2)
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
            return {"loss": loss}

else:
    import torch

    class OwnStep(keras.Model):  # type: ignore[misc, name-defined, no-redef]
        """A model with a train_step of its own, as Keras' guide writes it for PyTorch."""

        def train_step(self, inputs: Any) -> dict[str, Any]:
            x, y = inputs
            self.zero_grad()
            loss = ((self(x, training=True) - y) ** 2).mean()
            loss.backward()
            weights = list(self.trainable_weights)
            with torch.no_grad():
                self.optimizer.apply([weight.value.grad for weight in weights], weights)
            return {"loss": loss}


def own_step(seed: int) -> Any:
    """`mlp` with a train_step of its own."""
    model = mlp(seed)
    return OwnStep(inputs=model.inputs, outputs=model.outputs)
