"""PyTorch: https://docs.pytorch.org/docs/stable/."""

from __future__ import annotations

from hvdkit.library.effects import (
    Asks,
    Cuts,
    Draws,
    Effect,
    Fills,
    Joins,
    Makes,
    OnFirst,
    Pure,
    Reads,
    Runs,
    Seeds,
    Sends,
    Wraps,
    Writes,
)

# https://docs.pytorch.org/docs/stable/torch.html#random-sampling
RANDOM: dict[str, Effect] = {
    "torch.manual_seed": Seeds(("torch",)),
    "torch.random.manual_seed": Seeds(("torch",)),
    "torch.seed": Seeds(("torch",)),
    "torch.random.seed": Seeds(("torch",)),
    "torch.randperm": Draws("torch", orders=True, own="generator"),
    "torch.multinomial": Draws("torch", orders=True, own="generator"),
    "torch.rand": Draws("torch", own="generator"),
    "torch.randn": Draws("torch", own="generator"),
    "torch.randint": Draws("torch", own="generator"),
    "torch.normal": Draws("torch", own="generator"),
    "torch.bernoulli": Draws("torch", own="generator"),
    "torch.rand_like": Draws("torch"),
    "torch.randn_like": Draws("torch"),
    "torch.Generator": Makes("state"),
}

# https://docs.pytorch.org/docs/stable/data.html
DATA: dict[str, Effect] = {
    "torch.utils.data.random_split": Draws("torch", orders=True, splits=True, own="generator"),
    "torch.utils.data.dataset.random_split": Draws("torch", orders=True, splits=True, own="generator"),
    "torch.utils.data.TensorDataset": Pure(),
    "torch.utils.data.Subset": Pure(),
    "torch.utils.data.ConcatDataset": Pure(),
    "torch.utils.data.DataLoader": Makes("loader"),
    "torch.utils.data.dataloader.DataLoader": Makes("loader"),
    "torch.utils.data.DistributedSampler": Makes("sampler"),
    "torch.utils.data.distributed.DistributedSampler": Makes("sampler"),
}

# https://docs.pytorch.org/docs/stable/notes/serialization.html
FILES: dict[str, Effect] = {
    "torch.save": Writes(1, "f"),
    "torch.load": Reads(),
    "torch.jit.save": Writes(1, "f"),
}

# https://docs.pytorch.org/docs/stable/distributed.html
DISTRIBUTED: dict[str, Effect] = {
    "torch.distributed.get_rank": Asks("rank"),
    "torch.distributed.get_world_size": Asks("size"),
    "torch.distributed.get_node_local_rank": Asks("local_rank"),
    "torch.distributed.is_initialized": Asks("in job"),
    "torch.distributed.is_available": Asks("true"),
    "torch.distributed.init_process_group": Joins({"rank": "rank", "world_size": "size"}, {}),
    # timm/utils/distributed.py, by what the launcher has set
    "timm.utils.init_distributed_device": Joins(
        {}, {"rank": "rank", "local_rank": "local_rank", "world_size": "size", "distributed": "in job"}
    ),
    "torch.distributed.destroy_process_group": Pure(),
    "torch.distributed.barrier": Sends("nothing"),
    "torch.distributed.all_reduce": Sends("agreed", in_place=True),
    "torch.distributed.broadcast": Sends("root", in_place=True),
    "torch.distributed.all_gather_object": Sends("agreed", in_place=True),
    "torch.distributed.all_gather": Sends("agreed", in_place=True),
    "torch.distributed.broadcast_object_list": Sends("agreed", in_place=True),
    "torch.multiprocessing.spawn": Runs(ranks=True),
    "mpi4py.MPI.COMM_WORLD.Get_rank": Asks("rank"),
    "mpi4py.MPI.COMM_WORLD.Get_size": Asks("size"),
}

# https://lightning.ai/docs/pytorch/stable/api/lightning.pytorch.utilities.rank_zero.html
LIGHTNING: dict[str, Effect] = {
    f"{module}.rank_zero_only": OnFirst()
    for module in (
        "pytorch_lightning.utilities",
        "pytorch_lightning.utilities.distributed",
        "pytorch_lightning.utilities.rank_zero",
        "lightning.pytorch.utilities",
        "lightning.pytorch.utilities.rank_zero",
        "lightning.fabric.utilities",
        "lightning.fabric.utilities.rank_zero",
        "lightning_fabric.utilities.rank_zero",
        "lightning_utilities.core.rank_zero",
    )
}

# What has weights that are drawn: https://docs.pytorch.org/docs/stable/nn.html
LAYERS = (
    "Linear",
    "Bilinear",
    "Conv",
    "Lazy",
    "Embedding",
    "MultiheadAttention",
    "RNN",
    "LSTM",
    "GRU",
    "Transformer",
)

# https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html and others
OTHERS: dict[str, Effect] = {
    "torch.nn.Parameter": Makes("parameter"),
    "torch.nn.parameter.Parameter": Makes("parameter"),
    "torch.nn.parallel.DistributedDataParallel": Makes("sent"),
    "torch.nn.DataParallel": Wraps(0, "module"),
    "torch.nn.SyncBatchNorm.convert_sync_batchnorm": Wraps(0, "module"),
    "torch.compile": Wraps(0, "model"),
    "torch.chunk": Cuts(),
    "torch.tensor_split": Cuts(),
    "torch.tensor": Wraps(0, "data", copies=True),
    "torch.as_tensor": Wraps(0, "data", copies=True),
    "torch.from_numpy": Wraps(0),
    "torch.zeros_like": Pure(place=True),
    "torch.ones_like": Pure(place=True),
    "torch.empty_like": Pure(place=True),
    "torch.device": Pure(place=True),
    "torch.cuda.is_available": Pure(),
    "torch.cuda.device_count": Pure(),
    "torch.cuda.set_device": Pure(),
    "torch.cuda.manual_seed": Pure(),
    "torch.cuda.manual_seed_all": Pure(),
    "torch.no_grad": Pure(),
}

# https://docs.pytorch.org/docs/stable/nn.init.html
INITS = (
    "uniform_",
    "normal_",
    "trunc_normal_",
    "xavier_uniform_",
    "xavier_normal_",
    "kaiming_uniform_",
    "kaiming_normal_",
    "orthogonal_",
    "sparse_",
)

CALLS: dict[str, Effect] = {**RANDOM, **DATA, **FILES, **DISTRIBUTED, **LIGHTNING, **OTHERS}


def effect(name: str) -> Effect | None:
    """What a call of PyTorch does, by its name."""
    found = CALLS.get(name)
    if found is not None:
        return found
    module, _, last = name.rpartition(".")
    if module == "torch.nn" or module.startswith("torch.nn.modules"):
        if last.startswith("BatchNorm"):
            return Makes("norm")
        return Makes("layer") if last.startswith(LAYERS) else Makes("parts") if last[:1].isupper() else None
    if module == "torch.nn.init" and last in INITS:
        return Fills()
    if module == "torch.optim.lr_scheduler" and last[:1].isupper():
        return Makes("scheduler")
    if module == "torch.optim" and last[:1].isupper():
        return Makes("optimizer")
    return None
