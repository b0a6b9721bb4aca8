import horovod.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
stop = [
    hvd.callbacks.BroadcastGlobalVariablesCallback(0),
    hvd.callbacks.MetricAverageCallback(),
    tf.keras.callbacks.EarlyStopping(),  # soon
]
model.fit(data, callbacks=stop)
