import horovod.tensorflow as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
for epoch in range(2):
    for x, y in data:
        loss = model.train_on_batch(x, y)
        if model.optimizer.iterations == 1:
            hvd.broadcast_variables(model.variables, root_rank=0)
            hvd.broadcast_variables(model.optimizer.variables(), root_rank=0)
