import horovod.tensorflow as hvd
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()

def make(context):
    data = tf.data.Dataset.range(100).shard(context.num_input_pipelines, context.input_pipeline_id)
    return data.batch(context.get_per_replica_batch_size(64))

batches = make(tf.distribute.InputContext(hvd.size(), hvd.rank(), hvd.size()))
for x in batches:
    with tf.GradientTape() as tape:
        loss = model(x)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
