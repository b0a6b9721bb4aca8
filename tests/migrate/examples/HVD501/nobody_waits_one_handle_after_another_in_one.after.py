import horovod.torch as hvd
import torch.distributed as dist

hvd.allreduce_(total, op=hvd.Sum)
work = hvd.allreduce_async_(first, op=hvd.Sum)
hvd.synchronize(work)
work = dist.broadcast(second, 0, async_op=True)
work.wait()
