import horovod.torch as hvd
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
for epoch in range(10):
    loss.backward()
    if epoch % 5:
        if hvd.rank() == 0:
            torch.save(model.state_dict(), "model.pt")
    if dist.get_world_size() > 1:
        if hvd.rank() == 0:
            torch.save(model.state_dict(), "last.pt")
