"""The names of horovod.torch on torch.distributed, with Horovod's meaning.

world: the ranks and their channels, found by launch. reduction and exchange: the collectives. functions:
what is made of them. optimizer and buckets: gradients. joining: join(). not_offered: what only Horovod has.
"""

from __future__ import annotations

import torch
import torch.distributed as _dist

from hvdkit.torch.engine.distributed.compression import Compression as Compression
from hvdkit.torch.engine.distributed.exchange import allgather as allgather
from hvdkit.torch.engine.distributed.exchange import allgather_async as allgather_async
from hvdkit.torch.engine.distributed.exchange import alltoall as alltoall
from hvdkit.torch.engine.distributed.exchange import alltoall_async as alltoall_async
from hvdkit.torch.engine.distributed.exchange import barrier as barrier
from hvdkit.torch.engine.distributed.exchange import broadcast as broadcast
from hvdkit.torch.engine.distributed.exchange import broadcast_ as broadcast_
from hvdkit.torch.engine.distributed.exchange import broadcast_async as broadcast_async
from hvdkit.torch.engine.distributed.exchange import broadcast_async_ as broadcast_async_
from hvdkit.torch.engine.distributed.exchange import grouped_allgather as grouped_allgather
from hvdkit.torch.engine.distributed.exchange import grouped_allgather_async as grouped_allgather_async
from hvdkit.torch.engine.distributed.exchange import grouped_reducescatter as grouped_reducescatter
from hvdkit.torch.engine.distributed.exchange import reducescatter as reducescatter
from hvdkit.torch.engine.distributed.exchange import sparse_allreduce_async as sparse_allreduce_async
from hvdkit.torch.engine.distributed.functions import allgather_object as allgather_object
from hvdkit.torch.engine.distributed.functions import broadcast_object as broadcast_object
from hvdkit.torch.engine.distributed.functions import broadcast_optimizer_state as broadcast_optimizer_state
from hvdkit.torch.engine.distributed.functions import broadcast_parameters as broadcast_parameters
from hvdkit.torch.engine.distributed.handles import HorovodInternalError as HorovodInternalError
from hvdkit.torch.engine.distributed.handles import poll as poll
from hvdkit.torch.engine.distributed.handles import synchronize as synchronize
from hvdkit.torch.engine.distributed.not_offered import NotOffered
from hvdkit.torch.engine.distributed.operations import Adasum as Adasum
from hvdkit.torch.engine.distributed.operations import Average as Average
from hvdkit.torch.engine.distributed.operations import Max as Max
from hvdkit.torch.engine.distributed.operations import Min as Min
from hvdkit.torch.engine.distributed.operations import Product as Product
from hvdkit.torch.engine.distributed.operations import Sum as Sum
from hvdkit.torch.engine.distributed.reduction import allreduce as allreduce
from hvdkit.torch.engine.distributed.reduction import allreduce_ as allreduce_
from hvdkit.torch.engine.distributed.reduction import allreduce_async as allreduce_async
from hvdkit.torch.engine.distributed.reduction import allreduce_async_ as allreduce_async_
from hvdkit.torch.engine.distributed.reduction import grouped_allreduce as grouped_allreduce
from hvdkit.torch.engine.distributed.reduction import grouped_allreduce_ as grouped_allreduce_
from hvdkit.torch.engine.distributed.reduction import grouped_allreduce_async as grouped_allreduce_async
from hvdkit.torch.engine.distributed.reduction import grouped_allreduce_async_ as grouped_allreduce_async_
from hvdkit.torch.engine.distributed.reduction import (
    grouped_reducescatter_async as grouped_reducescatter_async,
)
from hvdkit.torch.engine.distributed.reduction import reducescatter_async as reducescatter_async
from hvdkit.torch.engine.distributed.world import ProcessSet as ProcessSet
from hvdkit.torch.engine.distributed.world import add_process_set as add_process_set
from hvdkit.torch.engine.distributed.world import cross_rank as cross_rank
from hvdkit.torch.engine.distributed.world import cross_size as cross_size
from hvdkit.torch.engine.distributed.world import global_process_set as global_process_set
from hvdkit.torch.engine.distributed.world import init as init
from hvdkit.torch.engine.distributed.world import is_initialized as is_initialized
from hvdkit.torch.engine.distributed.world import join as join
from hvdkit.torch.engine.distributed.world import local_rank as local_rank
from hvdkit.torch.engine.distributed.world import local_size as local_size
from hvdkit.torch.engine.distributed.world import rank as rank
from hvdkit.torch.engine.distributed.world import remove_process_set as remove_process_set
from hvdkit.torch.engine.distributed.world import shutdown as shutdown
from hvdkit.torch.engine.distributed.world import size as size

SyncBatchNorm = torch.nn.SyncBatchNorm  # over the default process group, which is the job's

elastic = NotOffered("elastic", "start the job with torchrun --max-restarts, and resume its checkpoint")
start_timeline = NotOffered("start_timeline", "record a trace with torch.profiler")
stop_timeline = NotOffered("stop_timeline", "record a trace with torch.profiler")


def mpi_threads_supported() -> bool:
    """False: there is no MPI."""
    return False


mpi_enabled = mpi_built = ddl_built = ccl_built = mpi_threads_supported


def gloo_built() -> bool:
    """Whether torch.distributed has Gloo."""
    return _dist.is_gloo_available()


gloo_enabled = gloo_built


def nccl_built() -> bool:
    """Whether torch.distributed has NCCL."""
    return _dist.is_nccl_available()


def cuda_built() -> bool:
    """Whether torch is built for CUDA."""
    return torch.version.cuda is not None


def rocm_built() -> bool:
    """Whether torch is built for ROCm."""
    return torch.version.hip is not None
