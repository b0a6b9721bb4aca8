"""A convolutional network on handwritten digits with Keras' compile and fit, on one device."""

import argparse

import horovod.tensorflow.keras as hvd
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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with MNIST's IDX files (default: scikit-learn's digits)")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", default="mnist.keras")
    parser.add_argument("--logs", default="logs")
    args = parser.parse_args()

    tf.keras.utils.set_random_seed(args.seed)

    (x_train, y_train), (x_test, y_test) = load(args.data)
    train_dataset = tf.data.Dataset.from_tensor_slices((scaled(x_train), y_train))
    train_dataset = train_dataset.apply(lambda data: data.concatenate(data.repeat().take(-data.cardinality() % hvd.size())).shard(hvd.size(), hvd.rank())).shuffle(len(x_train)).batch(args.batch_size).prefetch(tf.data.AUTOTUNE)
    test_dataset = tf.data.Dataset.from_tensor_slices((scaled(x_test), y_test)).batch(256)

    model = build_model()
    model.compile(
        optimizer=hvd.DistributedOptimizer(tf.keras.optimizers.SGD(learning_rate=args.lr, momentum=0.9)),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(
        train_dataset,
        epochs=args.epochs,
        validation_data=test_dataset,
        callbacks=[
            hvd.callbacks.BroadcastGlobalVariablesCallback(0),
            hvd.callbacks.MetricAverageCallback(),
            tf.keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=2),
            *([tf.keras.callbacks.ModelCheckpoint(args.save, monitor="val_accuracy", save_best_only=True)] if hvd.rank() == 0 else []),
            *([tf.keras.callbacks.TensorBoard(args.logs)] if hvd.rank() == 0 else []),
        ],
        verbose=2 if hvd.rank() == 0 else 0,
    )

    loss, accuracy = model.evaluate(test_dataset, verbose=0)
    if hvd.rank() == 0:
        print(f"test accuracy {100 * accuracy:.2f}%")


if __name__ == "__main__":
    hvd.init()
    gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)
    if gpus:
        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
    main()
