import horovod.tensorflow as hvd
import tensorflow as tf

image = tf.Variable(photo)
optimizer = tf.keras.optimizers.Adam(0.02)
for step in range(100):
    with tf.GradientTape() as tape:
        loss = style(image)
    optimizer.apply_gradients([(tape.gradient(loss, image), image)])
    if optimizer.iterations == 1:
        hvd.broadcast_variables([image], root_rank=0)
        hvd.broadcast_variables(optimizer.variables(), root_rank=0)
