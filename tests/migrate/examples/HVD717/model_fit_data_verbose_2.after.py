import horovod.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(data, verbose=2 if hvd.rank() == 0 else 0)
model.evaluate(x, y, 32, args.verbose if hvd.rank() == 0 else 0)
