import horovod.tensorflow as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)

def step(x):
    with tf.GradientTape() as tape:
        loss = model(x)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

for x in data:
    step(x)
    if optimizer.iterations == 1:
        hvd.broadcast_variables(model.variables, root_rank=0)
        hvd.broadcast_variables(optimizer.variables(), root_rank=0)

critic = tf.keras.Sequential([tf.keras.layers.Dense(1)])
second = tf.keras.optimizers.SGD(0.1)

def step(x):
    with tf.GradientTape() as tape:
        loss = critic(x)
    second.apply_gradients(zip(tape.gradient(loss, critic.trainable_variables), critic.trainable_variables))

for x in data:
    step(x)
    if second.iterations == 1:
        hvd.broadcast_variables(critic.variables, root_rank=0)
        hvd.broadcast_variables(second.variables(), root_rank=0)
