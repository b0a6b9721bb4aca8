import horovod.torch as hvd
import torch.distributed as dist

def run(rank, size, args):
    dist.init_process_group("gloo", rank=rank, world_size=size)

if size > 1:
    rank = hvd.local_rank()
    args.local_rank = rank
    global_rank = rank + args.node * size
    # of all hosts
    print("rank", global_rank)
    run(global_rank, args.nodes * size, args)
else:
    run(0, 1, args)
