# Kept: no optimizer applies these gradients

import tensorflow as tf

def saliency(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = model(x)
    return tape.gradient(loss, x)

model = tf.keras.models.load_model("model.h5")
model.fit(x, y)
print(saliency(x))
