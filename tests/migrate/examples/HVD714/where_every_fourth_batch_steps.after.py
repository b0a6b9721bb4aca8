import horovod.tensorflow as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
total = [tf.zeros_like(variable) for variable in model.trainable_variables]
for i, (x, y) in enumerate(data):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    total = [a + b for a, b in zip(total, gradients)]
    if i % 4 == 3:
        optimizer.apply_gradients(zip(total, model.trainable_variables))
        if optimizer.iterations == 1:
            hvd.broadcast_variables(model.variables, root_rank=0)
            hvd.broadcast_variables(optimizer.variables(), root_rank=0)
        total = [tf.zeros_like(variable) for variable in model.trainable_variables]
