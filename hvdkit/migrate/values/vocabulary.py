"""The library names that facts are made of, canonical as names.canonical gives them."""

from __future__ import annotations

import re
from functools import cache

DDP = frozenset(("torch.nn.parallel.DistributedDataParallel", "apex.parallel.DistributedDataParallel"))
DATA_PARALLEL = frozenset(("torch.nn.DataParallel",))
WRAPS = DDP | DATA_PARALLEL
# What DataParallel is made of: functions that run a model on all devices for one call.
SPREADING_CALLS = ("torch.nn.parallel.data_parallel", "torch.nn.data_parallel")
SPREADING = (*SPREADING_CALLS, "torch.nn.parallel.replicate", "torch.nn.parallel.replicate.replicate")
SYNC_BATCH_NORM = frozenset(
    ("torch.nn.SyncBatchNorm.convert_sync_batchnorm", "apex.parallel.convert_syncbn_model")
)

HOROVOD = ("horovod.torch", "hvdkit.torch")
HOROVOD_TENSORFLOW = (
    "horovod.tensorflow",
    "horovod.tensorflow.keras",
    "horovod.keras",
    "hvdkit.tensorflow",
    "hvdkit.tensorflow.keras",
    "hvdkit.keras",
)
EVERY_HOROVOD = (*HOROVOD, *HOROVOD_TENSORFLOW)
# The function of the way back that makes an optimizer average; it may have a longer name in a file.
AVERAGES = "average_before_steps"
HVD_OPTIMIZER = frozenset(f"{module}.DistributedOptimizer" for module in HOROVOD)
HVD_BROADCAST = frozenset(
    f"{module}.{name}" for module in HOROVOD for name in ("broadcast_parameters", "broadcast")
)
HVD_INIT = frozenset(f"{module}.init" for module in HOROVOD)
# What may be called before hvd.init(): to start it, or to find out whether it was or how it was built.
NEEDS_NO_START = re.compile(r"init|is_initialized|shutdown|\w+_built|\w+_enabled")
HVD_AVERAGE = frozenset(f"{module}.Average" for module in HOROVOD)
HVD_IN_PLACE = frozenset(
    f"{module}.{name}"
    for module in HOROVOD
    for name in ("allreduce_", "allreduce_async_", "grouped_allreduce_")
)
HVD_RANK = frozenset(f"{module}.rank" for module in HOROVOD)

LOADER = "torch.utils.data.DataLoader"
# What makes a loader that divides its data by rank, by torch.distributed -> the argument that asks for it.
LIBRARY_LOADERS = {
    "timm.data.create_loader": "distributed",
    "ffcv.loader.Loader": "distributed",
    **{f"dgl.dataloading.{kind}DataLoader": "use_ddp" for kind in ("", "Node", "Edge", "Graph")},
}
# PyTorch Geometric's loaders of parts of one graph, DataLoaders whose samples are nodes or edges -> the
# argument that says which of them, and its position; without one all nodes.
GRAPH_LOADERS = {
    **{f"torch_geometric.loader.{name}": ("input_nodes", 2) for name in ("NeighborLoader", "HGTLoader")},
    "torch_geometric.loader.LinkNeighborLoader": ("edge_label_index", 2),
    "torch_geometric.loader.RandomNodeLoader": ("", -1),
    "torch_geometric.loader.ShaDowKHopSampler": ("node_idx", 3),
}
LOADERS = frozenset((LOADER, *LIBRARY_LOADERS, *GRAPH_LOADERS))
SAMPLER = "torch.utils.data.DistributedSampler"
ORDERED_SAMPLER = "timm.data.distributed_sampler.OrderedDistributedSampler"  # has no set_epoch
# Samplers that ask the process group for what they are not given -> the position of num_replicas; rank next.
ASKING_SAMPLERS = {
    SAMPLER: 1,
    "torchvision.datasets.samplers.DistributedSampler": 1,  # this and the next around another sampler
    "catalyst.data.DistributedSamplerWrapper": 1,
    "monai.data.DistributedSampler": 2,
    ORDERED_SAMPLER: 1,
    "timm.data.distributed_sampler.RepeatAugSampler": 1,
    "torchdata.stateful_dataloader.sampler.StatefulDistributedSampler": 1,
}
SAMPLERS = frozenset((*ASKING_SAMPLERS, "hvdkit.torch.DistributedSampler"))
# Objects of libraries that, when called, run backward() and step().
BACKWARD_CALLS = frozenset(("timm.utils.NativeScaler", "timm.utils.ApexScaler"))
SCALER = "torch.amp.GradScaler"
INIT = "torch.distributed.init_process_group"
# What makes a process group of the launcher's variables, and puts the ranks into its argument.
LIBRARY_STARTS = ("timm.utils.init_distributed_device",)
# The attributes of that argument -> Horovod's function.
STARTED = {"rank": "rank", "local_rank": "local_rank", "world_size": "size"}
# Questions of torch.distributed that are answered without a process group.
ASK_NO_GROUP = frozenset(
    f"torch.distributed.{name}"
    for name in (
        "get_default_backend_for_device",
        "is_available",
        "is_backend_available",
        "is_gloo_available",
        "is_mpi_available",
        "is_nccl_available",
        "is_ucc_available",
        "is_xccl_available",
    )
)
OWN_GROUP = "hvdkit: a process group of Horovod's ranks"  # INIT, for libraries (HVD115): it starts nothing

# Optimizers that do not live in torch.optim; a project's own subclasses are found through their bases.
OTHER_OPTIMIZERS = (
    "apex.optimizers.",
    "timm.optim.",
    "transformers.AdamW",
    "transformers.Adafactor",
    "transformers.optimization.",
    "pytorch_pretrained_bert.BertAdam",
    "pytorch_pretrained_bert.optimization.",
    "bitsandbytes.optim.",
    "torch_optimizer.",
    "pytorch_optimizer.",
    "hvdkit.torch.LARS",
)

# Functions of libraries that make an optimizer for a model, with the argument that the model is.
OPTIMIZER_FACTORIES: dict[str, tuple[int, str]] = {
    "timm.optim.create_optimizer": (1, "model"),
    "timm.optim.create_optimizer_v2": (0, "model_or_params"),
    "detectron2.solver.build_optimizer": (1, "model"),
    "detectron2.solver.build.build_optimizer": (1, "model"),
}

# Functions of libraries that make parameter groups from their first argument, a model.
GROUP_FACTORIES = frozenset(
    (
        "timm.optim.add_weight_decay",
        "timm.optim.param_groups_weight_decay",
        "timm.optim.param_groups_layer_decay",
    )
)

# A tensor that is trained on its own, beside a model's.
PARAMETER = frozenset(("torch.nn.Parameter", "torch.nn.parameter.Parameter"))

# Objects of libraries around an optimizer whose step() calls the inner one's once. Of the first kind it
# changes the gradients before, of the second the weights afterwards.
GRADIENT_WRAPPERS = ("apex.parallel.LARC", "apex.parallel.LARC.LARC")
WEIGHT_WRAPPERS = (
    "timm.optim.Lookahead",
    "timm.optim.lookahead.Lookahead",
    "torch_optimizer.Lookahead",
    "pytorch_optimizer.Lookahead",
)
# Those that do something else: master copies, unscaling, or two steps for one.
OTHER_OPTIMIZER_WRAPPERS = (
    "apex.fp16_utils.FP16_Optimizer",
    "apex.fp16_utils.fp16_optimizer.FP16_Optimizer",
    "apex.optimizers.FP16_Optimizer",
    "apex.optimizers.fp16_optimizer.FP16_Optimizer",
    "apex.contrib.optimizers.FP16_Optimizer",
    "pytorch_optimizer.SAM",
)


@cache
def is_optimizer(name: str) -> bool:
    """Whether a qualified name is an optimizer class."""
    last = name.rpartition(".")[2]
    if name in (*WEIGHT_WRAPPERS, *OTHER_OPTIMIZER_WRAPPERS):
        return False
    if name.startswith("torch.optim."):
        return last[:1].isupper() and "lr_scheduler" not in name and "swa_utils" not in name
    return name.startswith(OTHER_OPTIMIZERS) and last[:1].isupper() and not last.endswith("Schedule")


def is_scheduler(name: str) -> bool:
    """Whether a qualified name is a learning-rate scheduler class."""
    return name.startswith("torch.optim.lr_scheduler.")
