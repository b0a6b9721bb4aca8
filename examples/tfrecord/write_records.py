"""Write scikit-learn's 8x8 handwritten digits as TFRecord files: 8 to train on, and one to measure with."""

import argparse
from pathlib import Path

import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

HELD_OUT = 360


def example(image, label):
    """One record: the 64 pixels as bytes, and the label."""
    pixels = tf.train.Feature(bytes_list=tf.train.BytesList(value=[image.astype("uint8").tobytes()]))
    number = tf.train.Feature(int64_list=tf.train.Int64List(value=[int(label)]))
    return tf.train.Example(features=tf.train.Features(feature={"image": pixels, "label": number}))


def write(path, images, labels):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for image, label in zip(images, labels):
            writer.write(example(image, label).SerializeToString())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="records")
    parser.add_argument("--files", type=int, default=8)
    args = parser.parse_args()

    folder = Path(args.data)
    folder.mkdir(exist_ok=True)
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    images, labels = images[order], labels[order]
    write(folder / "test.tfrecord", images[:HELD_OUT], labels[:HELD_OUT])
    for number in range(args.files):
        share = slice(HELD_OUT + number, None, args.files)
        write(folder / f"train-{number}.tfrecord", images[share], labels[share])


if __name__ == "__main__":
    main()
