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

model.compile(
    optimizer=tf.keras.optimizers.SGD(learning_rate=0.05, momentum=0.9, weight_decay=0.01),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
history = model.fit(
    x, y, batch_size=8, epochs=3, validation_data=(x_val, y_val), class_weight={0: 1.0, 1: 2.0}, verbose=0
)
for epoch, value in enumerate(history.history["val_loss"]):
    print(f"epoch {epoch} val_loss {value:.6f}")
model.save_weights("weights.weights.h5")
