import horovod.tensorflow as hvd
import tensorflow as tf
from tqdm import tqdm

train = tf.data.Dataset.from_tensor_slices((x, y)).apply(lambda data: data.concatenate(data.repeat().take(-data.cardinality() % hvd.size())).shard(hvd.size(), hvd.rank())).shuffle(100).batch(8)
bar = tqdm(train)
for x, y in bar:
    with tf.GradientTape() as tape:
        loss = model(x)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
