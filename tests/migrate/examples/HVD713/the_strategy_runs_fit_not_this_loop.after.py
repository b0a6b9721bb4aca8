import horovod.tensorflow as hvd
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
if eager:
    for x in data:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x))
        tape = hvd.DistributedGradientTape(tape)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
else:
    with strategy.scope():
        tf.keras.Sequential([]).fit(data)
