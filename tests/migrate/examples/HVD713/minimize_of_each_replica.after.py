import horovod.tensorflow as hvd
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.1)

def step(x, y):
    optimizer.minimize(lambda: tf.reduce_sum((model(x) - y) ** 2) / 64, model.trainable_variables, tape=hvd.DistributedGradientTape(tf.GradientTape(), op=hvd.Sum))

for x, y in data:
    strategy.run(step, args=(x, y))
