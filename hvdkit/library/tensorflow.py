"""TensorFlow 2 and Keras 3: https://www.tensorflow.org/api_docs/python/tf, https://keras.io/api/."""

from __future__ import annotations

from hvdkit.library.effects import Compiles, Effect, Makes, Seeds

KERAS = ("tensorflow.keras.", "keras.", "tf_keras.")

CALLS: dict[str, Effect] = {
    # https://www.tensorflow.org/api_docs/python/tf/random/set_seed
    "tensorflow.random.set_seed": Seeds(("tensorflow",)),
    "tensorflow.compat.v1.set_random_seed": Seeds(("tensorflow",)),
    # https://www.tensorflow.org/api_docs/python/tf/function
    "tensorflow.function": Compiles("func", "jit_compile"),
}

OF_KERAS: dict[str, Effect] = {
    # https://keras.io/api/utils/python_utils/#set_random_seed-function
    "utils.set_random_seed": Seeds(("random", "numpy", "tensorflow")),
    # https://keras.io/api/models/model/, https://keras.io/api/models/sequential/
    "Sequential": Makes("parts"),
    "models.Sequential": Makes("parts"),
    "Model": Makes("parts"),
    "models.Model": Makes("parts"),
    # https://keras.io/api/models/model_saving_apis/model_config_serialization/#clone_model-function
    "models.clone_model": Makes("layer", "tensorflow"),
}

# What has weights that are drawn: https://keras.io/api/layers/.
LAYERS = (
    "Dense",
    "EinsumDense",
    "Conv",
    "DepthwiseConv",
    "SeparableConv",
    "Embedding",
    "LSTM",
    "GRU",
    "SimpleRNN",
    "MultiHeadAttention",
)


def effect(name: str) -> Effect | None:
    """What a call of TensorFlow or Keras does, by its name."""
    found = CALLS.get(name)
    module = next((module for module in KERAS if name.startswith(module)), None)
    if found is not None or module is None:
        return found
    member = name[len(module) :]
    if member.startswith("layers.") and member[len("layers.") :].startswith(LAYERS):
        return Makes("layer", "tensorflow")
    return OF_KERAS.get(member)
