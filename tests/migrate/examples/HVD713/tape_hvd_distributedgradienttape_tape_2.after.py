import horovod.tensorflow as hvd
import tensorflow as tf

def grad(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
    tape = hvd.DistributedGradientTape(tape)
    return loss, tape.gradient(loss, [w, b])

for x in data:
    loss, gradients = grad(x)
    optimizer.apply_gradients(zip(gradients, [w, b]))
