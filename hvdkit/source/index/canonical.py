"""One name for each object that libraries offer under several, as facts and rules know it."""

from __future__ import annotations

from functools import cache

# The same object under another path: (prefix as people import it, the one name used in facts and rules).
_SAME = (
    ("torch.nn.parallel.distributed.", "torch.nn.parallel."),
    ("torch.nn.parallel.data_parallel.", "torch.nn."),
    ("torch.nn.parallel.DataParallel", "torch.nn.DataParallel"),
    ("torch.nn.modules.batchnorm.", "torch.nn."),
    ("torch.nn.SyncBatchNorm", "torch.nn.SyncBatchNorm"),
    ("torch.utils.data.distributed.", "torch.utils.data."),
    ("torch.utils.data.dataloader.", "torch.utils.data."),
    ("torch.utils.data.sampler.", "torch.utils.data."),
    ("torch.utils.data.dataset.", "torch.utils.data."),
    # PyTorch Geometric's take the same arguments, by keyword at least, and any sampler.
    *((f"torch_geometric.loader.{kind}DataLoader", "torch.utils.data.DataLoader") for kind in ("", "Dense")),
    ("torch_geometric.loader.ClusterLoader", "torch.utils.data.DataLoader"),
    *((f"torch_geometric.data.{kind}Loader", "torch.utils.data.DataLoader") for kind in ("Data", "Cluster")),
    ("torchvision.datasets.samplers.clip_sampler.", "torchvision.datasets.samplers."),
    ("catalyst.data.sampler.", "catalyst.data."),
    ("monai.data.samplers.", "monai.data."),
    ("torch.distributed.distributed_c10d.", "torch.distributed."),
    ("torch.cuda.amp.grad_scaler.", "torch.amp."),
    ("torch.cuda.amp.GradScaler", "torch.amp.GradScaler"),
    ("torch.amp.grad_scaler.", "torch.amp."),
    ("torch.nn.utils.clip_grad.", "torch.nn.utils."),
    ("apex.parallel.distributed.", "apex.parallel."),
    ("tensorboardX.", "torch.utils.tensorboard."),
    ("torch.utils.tensorboard.writer.", "torch.utils.tensorboard."),
    ("tqdm.auto.", "tqdm."),
    ("six.moves.", ""),  # `from six.moves import urllib`
    ("urllib.urlretrieve", "urllib.request.urlretrieve"),  # as Python 2 has it
    ("pytorch_transformers.", "transformers."),  # as it was called in 2019
    ("timm.data.loader.", "timm.data."),
    ("dgl.dataloading.dataloader.", "dgl.dataloading."),
    ("timm.optim.optim_factory.", "timm.optim."),
    *((f"timm.utils.{module}.", "timm.utils.") for module in ("agc", "clip_grad", "cuda", "distributed")),
)
# Keras by the packages that carry it, and its classes by their shorter names.
_KERAS = (
    "tensorflow.keras.",
    "tensorflow.compat.v2.keras.",
    "tensorflow.python.keras.",
    "tf_keras.",
    "keras.",
)
_SAME_TENSORFLOW = (
    *((f"{keras}models.{name}", f"keras.{name}") for keras in _KERAS for name in ("Model", "Sequential")),
    *((f"{keras}optimizers.legacy.", "keras.optimizers.") for keras in _KERAS),
    *((f"{keras}optimizers.experimental.", "keras.optimizers.") for keras in _KERAS),
    *((f"{keras}experimental.CosineDecay", "keras.optimizers.schedules.CosineDecay") for keras in _KERAS),
    *((keras, "keras.") for keras in _KERAS[:-1]),
    *((f"tensorflow.{part}.", f"keras.{part}.") for part in ("losses", "metrics", "optimizers")),
    ("tensorflow.compat.v2.", "tensorflow."),
    ("tensorflow.distribute.experimental.MultiWorker", "tensorflow.distribute.MultiWorker"),
    ("tensorflow.distribute.experimental.TPU", "tensorflow.distribute.TPU"),
    ("tensorflow.distribute.experimental.ParameterServer", "tensorflow.distribute.ParameterServer"),
)


@cache
def canonical(name: str) -> str:
    """One name for an object that a library offers under several."""
    for prefix, replacement in (*_SAME, *_SAME_TENSORFLOW):
        if name.startswith(prefix):
            return replacement + name[len(prefix) :]
    return name
