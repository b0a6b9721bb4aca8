# Kept: the loaded model is not trained, and the other is wrapped where there are several ranks

import horovod.tensorflow.keras as hvd
import tensorflow as tf

hvd.init()
callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0)]
best = tf.keras.models.load_model("best.h5")
print(best.evaluate(x, y))
optimizer = tf.keras.optimizers.SGD(0.1)
if hvd.size() > 1:
    optimizer = hvd.DistributedOptimizer(optimizer)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(optimizer=optimizer, loss="mse")
model.fit(x, y, epochs=2, callbacks=callbacks)
