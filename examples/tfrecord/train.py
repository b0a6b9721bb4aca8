"""A small network on TFRecord files that are read side by side, on all GPUs of one machine."""

import argparse

import tensorflow as tf

RECORDS = 1437  # to train on: a record file does not say how many it has
FEATURES = {
    "image": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64),
}


def parse(record):
    """The pixels in [0, 1], and the label."""
    features = tf.io.parse_single_example(record, FEATURES)
    pixels = tf.io.decode_raw(features["image"], tf.uint8)
    return tf.reshape(tf.cast(pixels, tf.float32), (64,)) / 16, features["label"]


def training_data(pattern, batch_size):
    files = tf.data.Dataset.list_files(pattern, shuffle=False)
    records = files.interleave(tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE)
    records = records.repeat().map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    return records.shuffle(2000).batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


def test_data(path):
    return tf.data.TFRecordDataset(path).map(parse).batch(120)


def build_model():
    return tf.keras.Sequential(
        [
            tf.keras.Input((64,)),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(10),
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="records")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--save", default="digits.keras")
    args = parser.parse_args()

    tf.keras.utils.set_random_seed(1)
    strategy = tf.distribute.MirroredStrategy()
    train_dataset = training_data(f"{args.data}/train-*.tfrecord", args.batch_size)
    test_dataset = test_data(f"{args.data}/test.tfrecord")

    with strategy.scope():
        model = build_model()
        model.compile(
            optimizer=tf.keras.optimizers.Adam(0.002),
            loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
    checkpoint = tf.keras.callbacks.ModelCheckpoint(args.save, monitor="val_accuracy", save_best_only=True)
    model.fit(
        train_dataset,
        epochs=args.epochs,
        steps_per_epoch=RECORDS // args.batch_size,
        validation_data=test_dataset,
        callbacks=[checkpoint],
        verbose=2,
    )
    loss, accuracy = model.evaluate(test_dataset, verbose=0)
    print(f"test accuracy {100 * accuracy:.2f}%")


if __name__ == "__main__":
    main()
