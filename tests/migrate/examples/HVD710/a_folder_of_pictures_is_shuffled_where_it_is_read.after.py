import tensorflow as tf

# hvdkit: TODO[HVD710] give it shuffle=False and batch_size=None, and put .apply(hvd.shard_dataset).shuffle(...).batch(...) below it
train = tf.keras.utils.image_dataset_from_directory("data", batch_size=32, seed=1)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(train)
