"""A convolutional network on handwritten digits with a training loop of its own, on all devices of one machine."""

import argparse
import os

import horovod.tensorflow as hvd
import tensorflow as tf

from digits import load, scaled


def create_model():
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
    parser.add_argument("--batch-size", type=int, default=32, help="of each device")
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checkpoints", default="checkpoints")
    args = parser.parse_args()

    tf.keras.utils.set_random_seed(args.seed)

    if hvd.rank() == 0:
        print(f"Number of devices: {hvd.size()}")
    global_batch_size = args.batch_size * hvd.size()

    (x_train, y_train), (x_test, y_test) = load(args.data)
    train_dataset = tf.data.Dataset.from_tensor_slices((scaled(x_train), y_train))
    train_dataset = train_dataset.apply(lambda data: data.concatenate(data.repeat().take(-data.cardinality() % hvd.size())).shard(hvd.size(), hvd.rank())).shuffle(len(x_train)).batch(global_batch_size // hvd.size())
    test_dataset = tf.data.Dataset.from_tensor_slices((scaled(x_test), y_test)).apply(lambda data: data.concatenate(data.repeat().take(-data.cardinality() % hvd.size())).shard(hvd.size(), hvd.rank())).batch(global_batch_size // hvd.size())

    train_dist_dataset = train_dataset
    test_dist_dataset = test_dataset

    # The reduction is none, so that the loss can be divided by the global batch size.
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")

    def compute_loss(labels, predictions):
        per_example_loss = loss_object(labels, predictions)
        return tf.nn.compute_average_loss(per_example_loss, global_batch_size=global_batch_size)

    test_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="test_accuracy")
    model = create_model()
    optimizer = tf.keras.optimizers.SGD(learning_rate=args.lr, momentum=0.9)
    checkpoint = tf.train.Checkpoint(optimizer=optimizer, model=model)

    def train_step(inputs):
        images, labels = inputs
        with tf.GradientTape() as tape:
            predictions = model(images, training=True)
            loss = compute_loss(labels, predictions)
        tape = hvd.DistributedGradientTape(tape, op=hvd.Sum)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    def test_step(inputs):
        images, labels = inputs
        test_accuracy.update_state(labels, model(images, training=False))

    @tf.function
    def distributed_train_step(dataset_inputs):
        per_replica_losses = train_step(dataset_inputs)
        return hvd.allreduce(per_replica_losses, op=hvd.Sum)

    @tf.function
    def distributed_test_step(dataset_inputs):
        return test_step(dataset_inputs)

    for epoch in range(args.epochs):
        total_loss = 0.0
        num_batches = 0
        for x in train_dist_dataset:
            total_loss += distributed_train_step(x)
            if optimizer.iterations == 1:
                hvd.broadcast_variables(model.variables, root_rank=0)
                hvd.broadcast_variables(optimizer.variables(), root_rank=0)
            num_batches += 1
        train_loss = total_loss / num_batches

        for x in test_dist_dataset:
            distributed_test_step(x)

        if hvd.rank() == 0:
            checkpoint.save(os.path.join(args.checkpoints, "ckpt"))
            print(f"epoch {epoch + 1}: loss {train_loss:.4f}")
        test_accuracy_of_all = hvd.allreduce(test_accuracy.result(), op=hvd.Average)
        if hvd.rank() == 0:
            print(f"test accuracy {100 * test_accuracy_of_all:.2f}%")
        test_accuracy.reset_state()


if __name__ == "__main__":
    hvd.init()
    gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)
    if gpus:
        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
    main()
