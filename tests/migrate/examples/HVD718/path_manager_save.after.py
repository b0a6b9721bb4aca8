import horovod.tensorflow as hvd
import tensorflow as tf

for x in data:
    with tf.GradientTape() as tape:
        loss = model(x)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
    if step % 100 == 0:
        path = manager.save() if hvd.rank() == 0 else None
        print(path)
manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=model), 'ckpt', 3)
