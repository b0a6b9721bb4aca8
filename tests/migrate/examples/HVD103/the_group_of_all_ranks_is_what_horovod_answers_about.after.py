import horovod.torch as hvd

def describe():
    size = hvd.size()
    rank = hvd.rank()
    on_gpu = ("nccl" if hvd.nccl_built() else "gloo") == "nccl"
    print(f"{('nccl' if hvd.nccl_built() else 'gloo')} on {hvd.size()}")
    return rank, size, on_gpu, hvd.local_rank()
