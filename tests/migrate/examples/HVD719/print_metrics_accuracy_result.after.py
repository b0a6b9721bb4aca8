import horovod.tensorflow as hvd
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
metrics = {"accuracy": tf.keras.metrics.SparseCategoricalAccuracy()}

def step(x, y):
    with tf.GradientTape() as tape:
        out = model(x)
        loss = f(out, y)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
    metrics["accuracy"].update_state(y, out)

for x, y in data:
    strategy.run(step, args=(x, y))
accuracy_of_all = hvd.allreduce(metrics["accuracy"].result(), op=hvd.Average)
print(accuracy_of_all)
