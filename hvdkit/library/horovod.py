"""Horovod 0.28, and hvdkit's own helpers: https://horovod.readthedocs.io/en/stable/api.html."""

from __future__ import annotations

from hvdkit.library.effects import Asks, Effect, Makes, Pure, Sends, Wraps

MODULES = (
    "horovod.torch.",
    "hvdkit.torch.",
    "hvdkit.tensorflow.keras.",
    "hvdkit.tensorflow.",
    "hvdkit.keras.",
    "horovod.tensorflow.keras.",
    "horovod.tensorflow.",
    "horovod.keras.",
)

FUNCTIONS: dict[str, Effect] = {
    "init": Pure(),
    "shutdown": Pure(),
    "is_initialized": Asks("true"),
    "rank": Asks("rank"),
    "size": Asks("size"),
    "local_rank": Asks("local_rank"),
    "local_size": Asks("local_size"),
    "cross_rank": Asks("cross_rank"),
    "cross_size": Asks("cross_size"),
    "allreduce": Sends("agreed"),
    "allreduce_": Sends("agreed", in_place=True),
    "allreduce_async": Sends("agreed"),
    "allreduce_async_": Sends("agreed", in_place=True),
    "broadcast_async": Sends("root"),
    "broadcast_async_": Sends("root", in_place=True),
    "allgather_async": Sends("agreed"),
    "synchronize": Wraps(0, "handle"),
    "grouped_allreduce": Sends("agreed"),
    "grouped_allreduce_": Sends("agreed", in_place=True),
    "allgather": Sends("agreed"),
    "allgather_object": Sends("agreed"),
    "broadcast": Sends("root"),
    "broadcast_": Sends("root", in_place=True),
    "broadcast_object": Sends("root"),
    "broadcast_parameters": Sends("nothing", weights=True),
    "broadcast_optimizer_state": Sends("nothing"),
    "alltoall": Sends("own"),
    "reducescatter": Sends("own"),
    "barrier": Sends("nothing"),
    "join": Sends("agreed"),
    "broadcast_variables": Sends("nothing", weights=True),
    "DistributedOptimizer": Wraps(0, "optimizer", averages=True),
    "DistributedGradientTape": Wraps(0, "gradtape", averages=True),
}


# What hvdkit.torch does differently, or adds: docs/torch.md.
HELPERS: dict[str, Effect] = {
    "broadcast": Sends("root", weights=True),
    "resume": Sends("agreed", weights=True),
    "save": Sends("nothing"),
    "average": Sends("agreed"),
    "sum_": Sends("agreed"),
    "clip_grad_norm_": Sends("agreed"),
    "clip_grad_value_": Sends("nothing"),
    "scaler_step": Sends("agreed"),
    "distribute": Makes("share"),
    "DistributedSampler": Makes("sampler"),
    "ShardedSampler": Makes("sampler"),
    "LARS": Makes("optimizer"),
    "Mean": Pure(),
    "unwrap": Wraps(0, "wrapped"),
}


def effect(name: str) -> Effect | None:
    """What a call of Horovod does, by its name."""
    module = next((module for module in MODULES if name.startswith(module)), None)
    if module is None:
        return None
    function = name[len(module) :]
    if module.startswith("hvdkit.") and function in HELPERS:
        return HELPERS[function]
    return FUNCTIONS.get(function)
