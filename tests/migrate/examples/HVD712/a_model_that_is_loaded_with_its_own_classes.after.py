import tensorflow as tf
from hvdkit.tensorflow.keras import load_model as hvd_load_model

model = hvd_load_model("model.keras", custom_objects={"Net": Net})
model.fit(x, y)
for x in data:
    with tf.GradientTape() as tape:
        loss = model(x)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
