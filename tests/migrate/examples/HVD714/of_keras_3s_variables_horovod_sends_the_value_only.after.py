import hvdkit.tensorflow as hvd
import tensorflow as tf

image = tf.Variable(photo)
optimizer = tf.keras.optimizers.Adam(0.02)
for step in range(100):
    with tf.GradientTape() as tape:
        loss = style(image)
    optimizer.apply_gradients([(tape.gradient(loss, image), image)])
    if optimizer.iterations == 1:
        for variable in [image, *optimizer.variables]:
            variable.assign(hvd.broadcast(variable, root_rank=0))
