import horovod.tensorflow as hvd
import tensorflow as tf

@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

model = Net()
optimizer = tf.keras.optimizers.SGD(0.1)
for x in data:
    train_step(x)
    if optimizer.iterations == 1:
        hvd.broadcast_variables(model.variables, root_rank=0)
        hvd.broadcast_variables(optimizer.variables(), root_rank=0)
