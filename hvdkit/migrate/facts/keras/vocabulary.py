"""The names of TensorFlow and Keras that facts are made of, canonical as names.canonical gives them."""

from __future__ import annotations

KINDS = ("tf-single", "tf-strategy")  # the kinds of program that the 7xx rules rewrite
MODULES = (
    "horovod.tensorflow",
    "horovod.tensorflow.keras",
    "horovod.keras",
    "hvdkit.tensorflow",
    "hvdkit.tensorflow.keras",
    "hvdkit.keras",
)
INITS = frozenset(f"{module}.init" for module in MODULES)
BACKEND = "KERAS_BACKEND"  # the environment variable
OPTIMIZERS = frozenset(f"{module}.DistributedOptimizer" for module in MODULES)
TAPES = frozenset(f"{module}.DistributedGradientTape" for module in MODULES)
BROADCASTS = frozenset(f"{module}.broadcast_variables" for module in MODULES)
ONE_BROADCASTS = frozenset(f"{module}.broadcast" for module in MODULES)
BROADCAST_CALLBACK = "BroadcastGlobalVariablesCallback"

# Strategies that keep a copy of the model per device and add up the gradients, as Horovod does.
MIRRORED = frozenset(
    f"tensorflow.distribute.{name}"
    for name in ("MirroredStrategy", "MultiWorkerMirroredStrategy", "OneDeviceStrategy")
)
# What has no counterpart, and why.
REFUSED = {
    "tensorflow.distribute.TPUStrategy": "a TPU is driven by one process, and Horovod has no TPU backend",
    "tensorflow.distribute.ParameterServerStrategy": "parameter servers keep the weights; Horovod has none",
    "tensorflow.distribute.experimental.CentralStorageStrategy": "its weights live on the CPU, once",
    "tensorflow.distribute.experimental.coordinator.": "a coordinator sends out steps; ranks are equal",
    "tensorflow.distribute.coordinator.": "a coordinator sends out steps; ranks are equal",
    "tensorflow.estimator.": "an Estimator owns the loop, and TensorFlow has removed it",
    "tensorflow.compat.v1.estimator.": "an Estimator owns the loop, and TensorFlow has removed it",
    "tensorflow.Session": "a session of TensorFlow 1 runs a graph",
    "tensorflow.InteractiveSession": "a session of TensorFlow 1 runs a graph",
    "tensorflow.compat.v1.Session": "a session of TensorFlow 1 runs a graph",
    "tensorflow.compat.v1.InteractiveSession": "a session of TensorFlow 1 runs a graph",
    "tensorflow.compat.v1.train.MonitoredTrainingSession": "a TensorFlow 1 session owns the loop",
    "tensorflow.train.MonitoredTrainingSession": "a TensorFlow 1 session owns the loop",
    **{
        f"tensorflow.compat.v1.train.{name}Optimizer": "it is TensorFlow 1's optimizer, which counts no steps"
        for name in ("Adadelta", "Adagrad", "Adam", "Ftrl", "GradientDescent", "Momentum", "RMSProp")
    },
    "tensorflow.contrib.": "tf.contrib is TensorFlow 1's",
    "tensorflow.compat.v1.disable_v2_behavior": "it is a TensorFlow 1 program",
    "tensorflow.compat.v1.disable_eager_execution": "without eager execution it is a TensorFlow 1 program",
    "keras_tuner.": "the tuner builds and fits the models itself, many at a time",
    "kerastuner.": "the tuner builds and fits the models itself, many at a time",
    "transformers.TFTrainer": "TFTrainer makes its own strategy",
    "keras.distribution.": "Keras' own distribution lays out the variables of one process over devices",
    "tensorflow.experimental.dtensor.": "a mesh splits tensors over devices",
    "tf_agents.": "TF-Agents owns the loop",
    "autokeras.": "AutoKeras builds and fits the models itself",
    "official.": "the Model Garden makes its own strategy and loop",
    "orbit.": "Orbit owns the loop",
}

# What makes optimizers with Keras's methods, and wraps them.
KERAS_OPTIMIZERS = ("keras.optimizers.", "keras.mixed_precision.", "tensorflow_addons.optimizers.")
OPTIMIZER_CLASSES = ("keras.optimizers.", "tensorflow.train.", "tensorflow.compat.v1.train.")
TAPE = "tensorflow.GradientTape"
VARIABLES = ("trainable_variables", "trainable_weights", "variables", "weights")  # attributes of a model
LOADS = ("keras.models.load_model", "keras.saving.load_model")
DISTRIBUTED_LOADS = frozenset(f"{module}.load_model" for module in MODULES)
MODELS = (
    "keras.Sequential",
    "keras.Model",
    "keras.applications.",
    "keras.models.",
    "keras.saving.load_model",
    *sorted(DISTRIBUTED_LOADS),
)
# Models whose compile is Keras's own.
PLAIN_MODELS = ("keras.Sequential", "keras.Model", "keras.applications.", "keras.models.clone_model")
BASES = frozenset(("keras.Model", "keras.Sequential"))
COMPILE = ("optimizer", "loss", "metrics", "loss_weights", "weighted_metrics", "jit_compile", "run_eagerly")
FIT = (
    "x",
    "y",
    "batch_size",
    "epochs",
    "verbose",
    "callbacks",
    "validation_split",
    "validation_data",
    "shuffle",
    "class_weight",
    "sample_weight",
    "initial_epoch",
    "steps_per_epoch",
    "validation_steps",
)
FIT_GENERATOR = ("x", "steps_per_epoch", "epochs", "verbose", "callbacks", "validation_data")
EVALUATE = ("x", "y", "batch_size", "verbose", "sample_weight", "steps", "callbacks")
PREDICT = ("x", "batch_size", "verbose", "steps", "callbacks")

# Methods of a tf.data.Dataset that give a dataset.
CHAIN = frozenset(
    (
        "apply",
        "batch",
        "bucket_by_sequence_length",
        "cache",
        "concatenate",
        "enumerate",
        "filter",
        "flat_map",
        "group_by_window",
        "ignore_errors",
        "interleave",
        "map",
        "padded_batch",
        "prefetch",
        "ragged_batch",
        "rebatch",
        "repeat",
        "scan",
        "shard",
        "shuffle",
        "skip",
        "snapshot",
        "take",
        "take_while",
        "unbatch",
        "unique",
        "window",
        "with_options",
    )
)
# Those after which a rank's elements are no longer every size-th of the source.
ORDERING = frozenset(("shuffle", "repeat"))
BATCHING = frozenset(
    ("batch", "padded_batch", "ragged_batch", "bucket_by_sequence_length", "group_by_window")
)
# Those that give as many elements as they are given, each made of one, in their order.
EACH = frozenset(("map", "cache", "prefetch", "with_options"))
DATASETS = "tensorflow.data."
# Functions that give a shuffled dataset in batches: argument that says whether, and that seeds it.
SHUFFLED_BATCHES = {
    f"keras.{module}.{name}": ("shuffle", "seed")
    for module in ("utils", "preprocessing")
    for name in (
        "image_dataset_from_directory",
        "text_dataset_from_directory",
        "audio_dataset_from_directory",
    )
}
TFDS = ("tensorflow_datasets.load", "tensorflow_datasets.builder")
AS_DATASET = "as_dataset"  # a builder's method
# What makes an environment to play in: each process plays episodes of its own.
ENVIRONMENTS = ("gym.make", "gymnasium.make")

# Callbacks that write files.
WRITING_CALLBACKS = frozenset(
    f"keras.callbacks.{name}" for name in ("ModelCheckpoint", "TensorBoard", "CSVLogger")
)
BACKUP = "keras.callbacks.BackupAndRestore"

_SCHEDULES = {
    "ExponentialDecay": (1, ("decay_steps",)),
    "InverseTimeDecay": (1, ("decay_steps",)),
    "PolynomialDecay": (1, ("decay_steps",)),
    "CosineDecay": (1, ("decay_steps", "warmup_steps")),
    "CosineDecayRestarts": (1, ("first_decay_steps",)),
    "PiecewiseConstantDecay": (0, ("boundaries",)),
}
# schedule -> position and names of what is counted in steps: https://keras.io/api/optimizers/learning_rate_schedules
SCHEDULES = {f"keras.optimizers.schedules.{name}": told for name, told in _SCHEDULES.items()}
