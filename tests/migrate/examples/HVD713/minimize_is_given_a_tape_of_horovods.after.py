import horovod.tensorflow as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
for x, y in data:
    optimizer.minimize(lambda: tf.reduce_mean((model(x) - y) ** 2), model.trainable_variables, tape=hvd.DistributedGradientTape(tf.GradientTape()))
