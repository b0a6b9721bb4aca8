"""What the members of horovod.torch become on torch.distributed, by their short names."""

from __future__ import annotations

# Calls without arguments.
CALLS = {
    "rank": "dist.get_rank()",
    "size": "dist.get_world_size()",
    "local_rank": 'int(os.environ.get("LOCAL_RANK", 0))',
    "local_size": 'int(os.environ.get("LOCAL_WORLD_SIZE", 1))',
    "cross_rank": 'int(os.environ.get("GROUP_RANK", 0))',
    "cross_size": 'int(os.environ.get("GROUP_WORLD_SIZE", 1))',
    "is_initialized": "dist.is_initialized()",
    "shutdown": "dist.destroy_process_group()",
    "barrier": "dist.barrier()",
    "nccl_built": "dist.is_nccl_available()",
    "gloo_built": "dist.is_gloo_available()",
    "mpi_built": "dist.is_mpi_available()",
}
# Members that are read and not called.
NAMES = {
    "rank": "dist.get_rank",
    "size": "dist.get_world_size",
    "barrier": "dist.barrier",
    "shutdown": "dist.destroy_process_group",
    "Compression.fp16": "default_hooks.fp16_compress_hook",
    "Compression.none": "None",
    "Average": "None",  # of the functions that are written into the file
    "Sum": "dist.ReduceOp.SUM",
    "Min": "dist.ReduceOp.MIN",
    "Max": "dist.ReduceOp.MAX",
    "Product": "dist.ReduceOp.PRODUCT",
}
# Each with the parameters that are passed on, and all of them in their order.
FUNCTIONS = {
    "allreduce": (("tensor",), ("tensor", "average", "name", "compression", "op")),
    "allreduce_": (("tensor",), ("tensor", "average", "name", "op")),
    "allreduce_async": (("tensor",), ("tensor", "average", "name", "op")),
    "allreduce_async_": (("tensor",), ("tensor", "average", "name", "op")),
    "allgather": (("tensor",), ("tensor", "name")),
    "allgather_async": (("tensor",), ("tensor", "name")),
    "allgather_object": (("obj",), ("obj", "name")),
    "broadcast": (("tensor", "root_rank"), ("tensor", "root_rank", "name")),
    "broadcast_": (("tensor", "root_rank"), ("tensor", "root_rank", "name")),
    "broadcast_async": (("tensor", "root_rank"), ("tensor", "root_rank", "name")),
    "broadcast_async_": (("tensor", "root_rank"), ("tensor", "root_rank", "name")),
    "synchronize": (("handle",), ("handle",)),
    "poll": (("handle",), ("handle",)),
    "broadcast_object": (("obj", "root_rank"), ("obj", "root_rank", "name")),
    "broadcast_parameters": (("params", "root_rank"), ("params", "root_rank")),
}
# What the rules for DistributedOptimizer, init and the optimizer's state rewrite.
OTHERS = ("init", "DistributedOptimizer", "broadcast_optimizer_state")
