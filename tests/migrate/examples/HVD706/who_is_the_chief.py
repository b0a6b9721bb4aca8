# Changed: the first of the workers is the chief.

import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(data)

def is_chief(task_type, task_id, cluster):
    return task_type == "chief" or (task_type == "worker" and task_id == 0 and "chief" not in cluster.as_dict())

task_type, task_id = strategy.cluster_resolver.task_type, strategy.cluster_resolver.task_id
if is_chief(task_type, task_id, strategy.cluster_resolver.cluster_spec()):
    model.save("model")
