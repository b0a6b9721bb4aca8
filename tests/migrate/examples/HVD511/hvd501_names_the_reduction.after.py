import horovod.torch as hvd
import torch
import torch.distributed.nn.functional as F

mean = hvd.allreduce(x, op=torch.distributed.ReduceOp.AVG)
# hvdkit: TODO[HVD511] write hvd.allreduce(tensor, op=hvd.Sum), which sums the gradients, too, or hvd.allgather, which averages them in the backward pass where torch sums
everyone = torch.cat(F.all_gather(head(x)))
