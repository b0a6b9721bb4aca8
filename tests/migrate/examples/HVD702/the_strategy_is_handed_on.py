# Changed: The strategy is handed on: the default one, which has one replica, is handed on instead.

import tensorflow as tf

class Train:
    def __init__(self, strategy):
        self.strategy = strategy

    def step(self, x):
        with tf.GradientTape() as tape:
            loss = model(x)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))

    def run(self, data):
        for x in data:
            self.strategy.run(self.step, args=(x,))

Train(tf.distribute.MirroredStrategy()).run(data)
