import horovod.torch as hvd
import torch.distributed as dist

def run(gpu, a, b):
    dist.init_process_group("gloo")

packed = (1, 2)
run(hvd.local_rank(), *packed)
run(hvd.local_rank(), 1,
        2)
