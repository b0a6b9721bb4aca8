# Reported: the function does not divide the data

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()

def make(context):
    return tf.data.Dataset.range(100).shuffle(100).batch(8)

batches = strategy.distribute_datasets_from_function(make)
for x in batches:
    with tf.GradientTape() as tape:
        loss = model(x)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
