import horovod.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(x_train[hvd.rank() : len(x_train) // hvd.size() * hvd.size() : hvd.size()], y_train[hvd.rank() : len(y_train) // hvd.size() * hvd.size() : hvd.size()], 32, sample_weight=w[hvd.rank() : len(w) // hvd.size() * hvd.size() : hvd.size()])
model.evaluate(x_test, y_test)
