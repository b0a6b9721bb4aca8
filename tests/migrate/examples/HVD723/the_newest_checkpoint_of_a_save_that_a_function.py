# Changed: The newest checkpoint, of a save that a function above makes.

import os
import tensorflow as tf

folder = "ckpt"
checkpoint = tf.train.Checkpoint(model=model)

def train():
    for x in data:
        with tf.GradientTape() as tape:
            loss = model(x)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
    checkpoint.save(os.path.join(folder, "c"))

train()
checkpoint.restore(tf.train.latest_checkpoint(folder))
