"""Methods of models and weights, by name: the same of PyTorch's, TensorFlow's and Keras' classes."""

from __future__ import annotations

# The object itself: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html and
# https://docs.pytorch.org/docs/stable/tensors.html.
MOVES = ("to", "cuda", "cpu", "half", "float", "double", "bfloat16")
SAME = (*("eval", "train", "requires_grad_", "detach", "item", "tolist", "numpy"),)
# The weights themselves, and no copy. get_weights: https://keras.io/api/models/model/.
WEIGHTS_OF = (
    *("state_dict", "parameters", "named_parameters", "buffers", "named_buffers"),
    *("modules", "named_modules", "get_weights"),
)
# What is written over weights. assign: https://www.tensorflow.org/api_docs/python/tf/Variable.
IN_PLACE = (
    *("copy_", "assign", "assign_add", "assign_sub"),
    *("mul_", "add_", "sub_", "div_", "lerp_", "zero_", "fill_"),
)
# What writes the file that its first argument names: https://pandas.pydata.org/docs/reference/io.html,
# https://numpy.org/doc/stable/reference/generated/numpy.ndarray.tofile.html, https://matplotlib.org/stable/api/.
WRITES_FIRST = (
    *("to_csv", "to_pickle", "to_json", "to_parquet", "to_feather", "to_excel", "to_hdf"),
    *("tofile", "savefig"),
)
REPLACES = ("copy_", "assign", "zero_", "fill_")  # of these, what leave nothing of what was there
# https://docs.pytorch.org/docs/stable/torch.html#in-place-random-sampling
DRAWN_IN_PLACE = ("normal_", "uniform_", "bernoulli_", "exponential_", "random_", "reset_parameters")
# What the code of a base class calls of those that derive from it, but for forward() and what Python calls:
# https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html, https://docs.pytorch.org/docs/stable/data.html.
OF_MODULES = (
    *("train", "eval", "apply", "children", "named_children", "modules", "named_modules", "add_module"),
    *("parameters", "named_parameters", "buffers", "named_buffers", "register_buffer", "register_parameter"),
    *("state_dict", "load_state_dict", "get_extra_state", "set_extra_state", "zero_grad", "requires_grad_"),
    *("to", "cuda", "cpu", "half", "float", "double", "bfloat16", "type", "share_memory", "extra_repr"),
    *("_apply", "_get_name", "_named_members", "_save_to_state_dict", "_load_from_state_dict"),
)
CALLED_BY_BASES = {
    "torch.nn.Module": OF_MODULES,
    "torch.nn.modules.Module": OF_MODULES,
    "torch.utils.data.Dataset": (),
    "torch.utils.data.dataset.Dataset": (),
}
