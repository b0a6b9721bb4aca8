# Reported: how many records there are is not known: a rank with one batch more would wait forever

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
train = tf.data.TFRecordDataset(files).map(parse).batch(8)
model.fit(train)
