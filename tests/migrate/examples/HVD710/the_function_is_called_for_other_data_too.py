# Changed: The function is called for other data, too: whole batches are dealt where fit takes them.

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")

def pipeline(split):
    return tf.data.Dataset.from_tensor_slices(split).batch(8)

model.fit(pipeline(train))
evaluate(model, pipeline(test))
