import horovod.tensorflow as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
for epoch in range(2):
    for x, y in data:
        loss = model.train_on_batch(x, y)
        if model.optimizer.iterations == 1:
            for variable in [*model.variables, *model.optimizer.variables]:
                variable.assign(hvd.broadcast(variable, root_rank=0))
