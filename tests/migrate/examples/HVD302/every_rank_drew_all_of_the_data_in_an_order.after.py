import horovod.torch as hvd
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("nccl", rank=rank, world_size=size)
model = DistributedDataParallel(net.to(rank), device_ids=[rank])
sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
loader = DataLoader(data, batch_size=8, sampler=sampler)
for x in loader:
    model(x).sum().backward()
    optimizer.step()
