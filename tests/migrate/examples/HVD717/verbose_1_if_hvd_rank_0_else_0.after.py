import horovod.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(
    data,
    epochs=3,
    verbose=1 if hvd.rank() == 0 else 0,
)
