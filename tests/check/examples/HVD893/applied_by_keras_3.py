# Changed: Keras 3 applies them by apply()

import horovod.tensorflow as hvd
import tensorflow as tf

hvd.init()
for x in data:
    with tf.GradientTape() as tape:
        loss = model(x)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply(gradients, model.trainable_variables)
