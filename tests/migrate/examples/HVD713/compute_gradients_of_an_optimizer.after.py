import horovod.tensorflow as hvd
import tensorflow as tf

optimizer = tf.keras.optimizers.Adam()
for x in data:
    pairs = optimizer.compute_gradients(lambda: tf.reduce_mean(model(x)), model.trainable_variables, tape=hvd.DistributedGradientTape(tf.GradientTape()))
    optimizer.apply_gradients([(tf.clip_by_norm(gradient, 1.0), variable) for gradient, variable in pairs])
