import horovod.tensorflow as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
for x, y in data:
    def loss():
        return tf.reduce_mean((model(x) - y) ** 2)
    optimizer.minimize(loss, var_list=lambda: model.trainable_weights)
    if optimizer.iterations == 1:
        hvd.broadcast_variables(model.variables, root_rank=0)
        hvd.broadcast_variables(optimizer.variables(), root_rank=0)
