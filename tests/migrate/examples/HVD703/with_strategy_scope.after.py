import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
def build():
    if wide:
        return tf.keras.Sequential([tf.keras.layers.Dense(10)])
    return tf.keras.Sequential([tf.keras.layers.Dense(1)])
model = build()
model.fit(data)
