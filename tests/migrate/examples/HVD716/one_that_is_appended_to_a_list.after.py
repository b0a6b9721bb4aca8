import horovod.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
callbacks = []
best = tf.keras.callbacks.ModelCheckpoint("best.keras")
if hvd.rank() == 0:
    callbacks.append(best)
model.fit(x, y, callbacks=callbacks)
print(best.best)
