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
        tf.keras.layers.BatchNormalization(),
        tf.keras.layers.Dropout(0.2),
        tf.keras.layers.Dense(2),
    ]
)

train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64).batch(8)
model.compile(
    optimizer=tf.keras.optimizers.AdamW(0.01, weight_decay=0.1),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
model.fit(
    train,
    epochs=2,
    verbose=2,
    callbacks=[tf.keras.callbacks.LearningRateScheduler(lambda epoch: 0.01 / (epoch + 1))],
)
model.save_weights("weights.weights.h5")
