# Changed: beside a tape the module of Horovod is the one without Keras
# Options: --target hvdkit

import tensorflow as tf

model = tf.keras.models.load_model("model.keras", custom_objects={"Net": Net})
model.fit(x, y)
for x in data:
    with tf.GradientTape() as tape:
        loss = model(x)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
