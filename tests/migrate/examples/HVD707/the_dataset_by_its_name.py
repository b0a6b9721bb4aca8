# Changed: The dataset by its name.

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
data = strategy.experimental_distribute_dataset(dataset=train)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y)
