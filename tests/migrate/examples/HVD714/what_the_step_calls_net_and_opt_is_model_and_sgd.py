# Changed: What the step calls net and opt is model and sgd at the loop.
# Options: --target hvdkit

import tensorflow as tf

def step(net, opt, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(net(x))
    variables = net.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
sgd = tf.keras.optimizers.SGD(0.1)
for i, x in enumerate(data):
    step(model, sgd, x)
