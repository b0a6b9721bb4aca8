import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(3)
x = np.random.default_rng(0).normal(size=(64, 8)).astype("float32")
y = (x.sum(axis=1) > 0).astype("int32")
x_val = np.random.default_rng(1).normal(size=(32, 8)).astype("float32")
y_val = (x_val.sum(axis=1) > 0).astype("int32")


class Classifier(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = tf.keras.layers.Dense(16, activation="relu")
        self.outer = tf.keras.layers.Dense(2)

    def call(self, inputs, training=False):
        return self.outer(self.inner(inputs))

    def train_step(self, data):
        inputs, labels = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(y=labels, y_pred=self(inputs, training=True))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss}


model = Classifier()
train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64).batch(8)
model.compile(
    optimizer=tf.keras.optimizers.Adam(0.01),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
model.fit(train, epochs=2, verbose=0)
model.save_weights("weights.weights.h5")
