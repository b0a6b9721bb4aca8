import horovod.tensorflow as hvd
import tensorflow as tf

for x in data:
    with tf.GradientTape() as tape:
        loss = model(x)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
writer = tf.summary.create_file_writer("logs") if hvd.rank() == 0 else tf.summary.create_noop_writer()
with writer.as_default():
    tf.summary.scalar("a", 1)
