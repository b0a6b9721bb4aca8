import horovod.tensorflow as hvd
import tensorflow as tf

image = tf.Variable(photo)
for step in range(100):
    with tf.GradientTape() as tape:
        loss = style(image)
    tape = hvd.DistributedGradientTape(tape)
    optimizer.apply_gradients([(tape.gradient(loss, [image])[0], image)])
