"""A convolutional network on handwritten digits with a training loop around GradientTape, on one device."""

import argparse

import horovod.tensorflow as hvd
import tensorflow as tf

from digits import load, scaled


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.conv1 = tf.keras.layers.Conv2D(16, 3, activation="relu")
        self.conv2 = tf.keras.layers.Conv2D(32, 3, activation="relu")
        self.pool = tf.keras.layers.MaxPooling2D()
        self.flatten = tf.keras.layers.Flatten()
        self.d1 = tf.keras.layers.Dense(64, activation="relu")
        self.d2 = tf.keras.layers.Dense(10)

    def call(self, x):
        x = self.pool(self.conv1(x))
        x = self.pool(self.conv2(x))
        return self.d2(self.d1(self.flatten(x)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with MNIST's IDX files (default: scikit-learn's digits)")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", default="mnist.weights.h5")
    args = parser.parse_args()

    tf.keras.utils.set_random_seed(args.seed)

    (x_train, y_train), (x_test, y_test) = load(args.data)
    train_dataset = tf.data.Dataset.from_tensor_slices((scaled(x_train), y_train))
    train_dataset = train_dataset.apply(lambda data: data.concatenate(data.repeat().take(-data.cardinality() % hvd.size())).shard(hvd.size(), hvd.rank())).shuffle(len(x_train)).batch(args.batch_size)
    test_dataset = tf.data.Dataset.from_tensor_slices((scaled(x_test), y_test)).batch(256)

    model = Net()
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.SGD(learning_rate=args.lr, momentum=0.9)

    train_loss = tf.keras.metrics.Mean(name="train_loss")
    test_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="test_accuracy")

    @tf.function
    def train_step(images, labels):
        with tf.GradientTape() as tape:
            predictions = model(images, training=True)
            loss = loss_object(labels, predictions)
        tape = hvd.DistributedGradientTape(tape)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        train_loss(loss)

    @tf.function
    def test_step(images, labels):
        test_accuracy(labels, model(images, training=False))

    for epoch in range(args.epochs):
        train_loss.reset_state()
        test_accuracy.reset_state()

        for images, labels in train_dataset:
            train_step(images, labels)
            if optimizer.iterations == 1:
                hvd.broadcast_variables(model.variables, root_rank=0)
                hvd.broadcast_variables(optimizer.variables(), root_rank=0)

        for images, labels in test_dataset:
            test_step(images, labels)

        if hvd.rank() == 0:
            print(f"epoch {epoch + 1}: loss {train_loss.result():.4f}")
            print(f"test accuracy {100 * test_accuracy.result():.2f}%")

    if hvd.rank() == 0:
        model.save_weights(args.save)


if __name__ == "__main__":
    hvd.init()
    gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)
    if gpus:
        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
    main()
