import horovod.tensorflow.keras as hvd
import tensorflow as tf
from tensorflow.keras.callbacks import CSVLogger, EarlyStopping, ModelCheckpoint, TensorBoard

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
log = CSVLogger("log.csv")
model.fit(data, callbacks=[*([log] if hvd.rank() == 0 else []), EarlyStopping()])
