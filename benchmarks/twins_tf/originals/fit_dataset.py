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

train = tf.data.Dataset.from_tensor_slices((x, y)).cache().shuffle(64).map(lambda a, b: (a * 2, b)).batch(8)
val = tf.data.Dataset.from_tensor_slices((x_val, y_val)).batch(16)
model.compile(
    optimizer=tf.keras.optimizers.Adam(0.01),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
callbacks = [
    tf.keras.callbacks.EarlyStopping(monitor="val_loss", patience=1),
    tf.keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=0, min_delta=1.0),
    tf.keras.callbacks.ModelCheckpoint("best.h5", save_best_only=True),
    tf.keras.callbacks.CSVLogger("log.csv"),
]
model.fit(train, epochs=3, validation_data=val, callbacks=callbacks, verbose=2)
loss, accuracy = model.evaluate(val, verbose=0)
print(f"validation loss {loss:.6f} accuracy {accuracy:.4f}")
model.save("final.h5")
