"""Keras' compile and fit: a rate that warms up, a validation, an early end, the best model kept."""

import numpy as np
import tensorflow as tf

EPOCHS = 3
BATCH = 8


class WarmUp(tf.keras.callbacks.Callback):
    """The rate grows to its full size over the first epochs."""

    def __init__(self, full, epochs):
        super().__init__()
        self.full, self.epochs = full, epochs

    def on_epoch_begin(self, epoch, logs=None):
        self.model.optimizer.learning_rate.assign(self.full * min(1, (epoch + 1) / self.epochs))


x = np.random.default_rng(0).normal(size=(64, 8)).astype("float32")
y = (x.sum(axis=1) > 0).astype("int32")
train = tf.data.Dataset.from_tensor_slices((x[:48], y[:48])).shuffle(48).batch(BATCH).repeat()
valid = tf.data.Dataset.from_tensor_slices((x[48:], y[48:])).batch(BATCH)

model = tf.keras.Sequential(
    [
        tf.keras.Input((8,)),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.BatchNormalization(),
        tf.keras.layers.Dropout(0.2),
        tf.keras.layers.Dense(2),
    ]
)
model.compile(
    optimizer=tf.keras.optimizers.SGD(0.1, momentum=0.9),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
model.fit(
    train,
    epochs=EPOCHS,
    steps_per_epoch=48 // BATCH,
    validation_data=valid,
    callbacks=[
        WarmUp(0.1, epochs=2),
        tf.keras.callbacks.EarlyStopping("val_loss", patience=2),
        tf.keras.callbacks.ModelCheckpoint("best.keras", save_best_only=True),
    ],
    verbose=2,
)
