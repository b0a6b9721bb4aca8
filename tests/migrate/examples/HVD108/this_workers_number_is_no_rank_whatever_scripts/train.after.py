import sampling
import horovod.torch as hvd
import torch.distributed as dist
import torch.multiprocessing as mp

def run(worker, workers, data):
    job = sampling.job()
    # hvdkit: TODO[HVD108] set job.rank to hvd.rank() where it is defined, if anything else reads it
    # hvdkit: TODO[HVD108] set job.size to hvd.size() where it is defined, if anything else reads it
    dist.init_process_group("nccl", rank=job.rank, world_size=job.size)
    mine = data.split(len(data) // workers)[worker]

mp.spawn(run, args=(2, sampling.of_this_host()), nprocs=hvd.local_size())
