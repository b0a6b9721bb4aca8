import glob
import tensorflow as tf

def texts(paths):
    found = []
    for path in paths:
        with open(path) as file:
            found.append(file.read())
    return found

train = texts(sorted(glob.glob("train/*.txt")))
data = tf.data.Dataset.from_tensor_slices(train).batch(8)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(data)
