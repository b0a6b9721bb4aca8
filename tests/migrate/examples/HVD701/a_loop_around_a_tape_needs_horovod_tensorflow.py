# Changed: A loop around a tape needs horovod.tensorflow, compile and fit horovod.tensorflow.keras.

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
for x, y in strategy.experimental_distribute_dataset(data):
    with tf.GradientTape() as tape:
        loss = model(x)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
