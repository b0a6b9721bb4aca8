"""A convolutional network on handwritten digits with Keras' compile and fit, on all devices of one machine."""

import argparse
import os

import hvdkit.tensorflow.keras as hvd
import tensorflow as tf

from digits import load, scaled


def build_model():
    return tf.keras.Sequential(
        [
            tf.keras.Input((28, 28, 1)),
            tf.keras.layers.Conv2D(16, 3, activation="relu"),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Conv2D(32, 3, activation="relu"),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(10),
        ]
    )


def decay(epoch, lr):
    return lr if epoch < 3 else lr * 0.5


class PrintLR(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if hvd.rank() == 0:
            print(f"learning rate of epoch {epoch + 1}: {self.model.optimizer.learning_rate.numpy():g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with MNIST's IDX files (default: scikit-learn's digits)")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=32, help="of each device")
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checkpoints", default="checkpoints")
    args = parser.parse_args()

    tf.keras.utils.set_random_seed(args.seed)

    if hvd.rank() == 0:
        print(f"Number of devices: {hvd.size()}")
    batch_size = args.batch_size * hvd.size()

    (x_train, y_train), (x_test, y_test) = load(args.data)
    train_dataset = tf.data.Dataset.from_tensor_slices((scaled(x_train), y_train))
    train_dataset = train_dataset.apply(hvd.shard_dataset).cache().shuffle(len(x_train)).batch(batch_size // hvd.size())
    test_dataset = tf.data.Dataset.from_tensor_slices((scaled(x_test), y_test)).batch(batch_size)

    model = build_model()
    model.compile(
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        optimizer=hvd.DistributedOptimizer(tf.keras.optimizers.SGD(learning_rate=args.lr, momentum=0.9)),
        metrics=["accuracy"],
    )

    callbacks = [
        tf.keras.callbacks.ModelCheckpoint(
            filepath=os.path.join(args.checkpoints, "ckpt_{epoch}.weights.h5"), save_weights_only=True
        ),
        tf.keras.callbacks.LearningRateScheduler(decay),
        PrintLR(),
    ]
    model.fit(train_dataset, epochs=args.epochs, callbacks=hvd.callbacks(callbacks), verbose=hvd.verbose(2))

    loss, accuracy = model.evaluate(test_dataset, verbose=0)
    if hvd.rank() == 0:
        print(f"test accuracy {100 * accuracy:.2f}%")


if __name__ == "__main__":
    hvd.init()
    main()
