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

train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64).batch(8)
val = tf.data.Dataset.from_tensor_slices((x_val, y_val)).batch(16)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(0.01, 2 * len(train)))

checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
metric = tf.keras.metrics.Mean()
for epoch in range(2):
    metric.reset_state()
    for inputs, labels in train:
        with tf.GradientTape() as tape:
            loss = loss_fn(labels, model(inputs, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        metric.update_state(loss)
    print(f"epoch {epoch} training loss {float(metric.result()):.4f}")
    checkpoint.save("checkpoints/model")
