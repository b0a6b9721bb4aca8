import horovod.torch as hvd
import torch
import torch.distributed as dist

def longest(texts):
    rows = hvd.allgather_object(texts, name="gather")
    if hvd.rank() != 1:
        rows = None
    total = sum(hvd.allgather_object(len(texts), name="allreduce"))
    most = max(hvd.allgather_object(float(len(texts)), name="allreduce"))
    return rows, total / most, hvd.allgather_object(texts, name="allgather")

dist.init_process_group("gloo")
