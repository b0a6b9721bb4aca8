import horovod.tensorflow.keras as hvd
import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(data)

def is_chief(task_type, task_id, cluster):
    return task_type == "chief" or (task_type == "worker" and task_id == 0 and "chief" not in cluster.as_dict())

task_type, task_id = "worker", hvd.rank()
if is_chief(task_type, task_id, tf.train.ClusterSpec({"worker": [str(rank) for rank in range(hvd.size())]})):
    model.save("model")
