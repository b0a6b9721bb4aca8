import horovod.tensorflow as hvd
import tensorflow as tf

train = tf.data.Dataset.from_tensor_slices((x, y)).apply(lambda data: data.concatenate(data.repeat().take(-data.cardinality() % hvd.size())).shard(hvd.size(), hvd.rank())).repeat().shuffle(10, seed=1).batch(8)
for x, y in train.prefetch(1):
    with tf.GradientTape() as tape:
        loss = model(x)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
