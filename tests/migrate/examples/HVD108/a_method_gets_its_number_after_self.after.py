import horovod.torch as hvd
import torch.distributed as dist
import torch.multiprocessing as mp

class Job:
    def work(self, rank, size):
        dist.init_process_group("gloo", rank=rank, world_size=size)
        if hvd.rank() == 0:
            print("started")

    def start(self):
        mp.spawn(self.work, args=(hvd.size(),), nprocs=hvd.local_size())
