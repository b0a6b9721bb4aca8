import horovod.tensorflow.keras as hvd
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
if hvd.rank() == 0:
    print(strategy.num_replicas_in_sync)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    if hvd.rank() == 0:
        print("built")
model.fit(data)
