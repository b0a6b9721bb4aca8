import hvdkit.tensorflow as hvd
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
accuracy = tf.keras.metrics.SparseCategoricalAccuracy()

def step(x, y):
    with tf.GradientTape() as tape:
        out = model(x)
        loss = f(out, y)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
    accuracy.update_state(y, out)

for x, y in data:
    strategy.run(step, args=(x, y))
for epoch in range(3):
    accuracy_of_all = hvd.allreduce(accuracy.result(), op=hvd.Average)
    print(epoch, accuracy_of_all)
