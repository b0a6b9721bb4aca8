import hvdkit.tensorflow as hvd
import tensorflow as tf

class Linear(tf.Module):
    def __call__(self, x):
        return x @ self.w

model = Linear()
optimizer = tf.keras.optimizers.SGD(0.1)
for x in data:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    if optimizer.iterations == 1:
        for variable in [*model.variables, *optimizer.variables]:
            variable.assign(hvd.broadcast(variable, root_rank=0))
