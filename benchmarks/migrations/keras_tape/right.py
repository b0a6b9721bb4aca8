"""A loop around DistributedGradientTape that goes on from a checkpoint with its momentum."""

import horovod.tensorflow as hvd
import numpy as np
import tensorflow as tf

EPOCHS = 2


def build():
    layers = tf.keras.layers
    return tf.keras.Sequential([tf.keras.Input((8,)), layers.Dense(16, activation="relu"), layers.Dense(2)])


def main():
    hvd.init()
    x = np.random.default_rng(0).normal(size=(48, 8)).astype("float32")
    y = (x.sum(axis=1) > 0).astype("int32")
    data = tf.data.Dataset.from_tensor_slices((x, y)).shard(hvd.size(), hvd.rank()).shuffle(48).batch(8)
    model = build()
    optimizer = tf.keras.optimizers.SGD(0.05, momentum=0.9)
    optimizer.build(model.trainable_variables)
    if hvd.rank() == 0:
        tf.train.Checkpoint(model=model, optimizer=optimizer).read("start/start").assert_consumed()
    hvd.broadcast_variables(model.variables, root_rank=0)
    hvd.broadcast_variables(optimizer.variables, root_rank=0)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        tape = hvd.DistributedGradientTape(tape)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    for epoch in range(EPOCHS):
        for x, y in data:
            loss = step(x, y)
        if hvd.rank() == 0:
            print(f"epoch {epoch}: loss {loss:.4f}")
            model.save_weights("model.weights.h5")


if __name__ == "__main__":
    main()
