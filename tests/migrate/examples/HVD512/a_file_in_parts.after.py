import horovod.torch as hvd
import torch
import torch.distributed as dist

dist.init_process_group("gloo")

def read(path):
    if hvd.rank() == 0:
        data = open(path, "rb").read()
        hvd.broadcast_object(len(data), root_rank=0, name="bcast")
        for start in range(0, len(data), 1024):
            hvd.broadcast_object(data[start : start + 1024], root_rank=0, name="bcast")
    else:
        data = b""
        for _ in range(0, hvd.broadcast_object(None, root_rank=0, name="bcast"), 1024):
            data += hvd.broadcast_object(None, root_rank=0, name="bcast")
    return data
