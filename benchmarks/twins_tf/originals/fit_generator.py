import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(3)
x = np.random.default_rng(0).normal(size=(64, 8)).astype("float32")
y = (x.sum(axis=1) > 0).astype("int32")
x_val = np.random.default_rng(1).normal(size=(32, 8)).astype("float32")
y_val = (x_val.sum(axis=1) > 0).astype("int32")

model = tf.keras.Sequential(
    [
        tf.keras.layers.Dense(16, activation="relu", input_shape=(8,)),
        tf.keras.layers.Dense(2),
    ]
)


def samples():
    for place in range(64):
        yield x[place], y[place]


train = tf.data.Dataset.from_generator(
    samples, output_signature=(tf.TensorSpec((8,), tf.float32), tf.TensorSpec((), tf.int32))
).batch(8)
model.compile(
    optimizer=tf.keras.optimizers.RMSprop(0.01),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
model.fit(train, epochs=2, verbose=0)
print("loss", float(model.evaluate(x_val, y_val, verbose=0)))
model.save_weights("weights.weights.h5")
