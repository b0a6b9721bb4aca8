import horovod.tensorflow as hvd
import tensorflow as tf

def step(x):
    with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
        fake = generator(x)
        g_loss, d_loss = losses(fake)
    g_tape = hvd.DistributedGradientTape(g_tape)
    g_gradients = g_tape.gradient(g_loss, generator.trainable_variables)
    d_tape = hvd.DistributedGradientTape(d_tape)
    d_gradients = d_tape.gradient(d_loss, discriminator.trainable_variables)
    g_optimizer.apply_gradients(zip(g_gradients, generator.trainable_variables))
    d_optimizer.apply_gradients(zip(d_gradients, discriminator.trainable_variables))
