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
optimizer = tf.keras.optimizers.SGD(0.05, momentum=0.9)


@tf.function
def train_step(inputs, labels):
    with tf.GradientTape() as tape:
        loss = loss_fn(labels, model(inputs, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for epoch in range(2):
    for inputs, labels in train:
        loss = train_step(inputs, labels)

    total, right, count = 0.0, 0, 0
    for inputs, labels in val:
        logits = model(inputs, training=False)
        total += float(loss_fn(labels, logits)) * len(labels)
        right += int(tf.reduce_sum(tf.cast(tf.argmax(logits, 1) == tf.cast(labels, tf.int64), tf.int32)))
        count += len(labels)
    print(f"epoch {epoch} val_loss {total / count:.6f} accuracy {right / count:.4f}")

model.save_weights("weights.weights.h5")
