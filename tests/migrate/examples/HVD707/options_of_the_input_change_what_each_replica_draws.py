# Reported: options of the input change what each replica draws

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()

def make(context):
    return tf.data.Dataset.range(8).shard(context.num_input_pipelines, context.input_pipeline_id)

data = strategy.distribute_datasets_from_function(make, options=tf.distribute.InputOptions())
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y)
