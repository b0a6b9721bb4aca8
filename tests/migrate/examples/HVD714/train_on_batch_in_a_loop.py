# Changed: A compiled model has its optimizer itself.

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
for epoch in range(2):
    for x, y in data:
        loss = model.train_on_batch(x, y)
