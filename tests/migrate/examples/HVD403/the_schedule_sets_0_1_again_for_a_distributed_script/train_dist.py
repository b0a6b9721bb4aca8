import torch
import torch.distributed as dist
from schedule import Poly

dist.init_process_group("nccl")
model = torch.nn.parallel.DistributedDataParallel(net)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = Poly(0.1)
for i, x in enumerate(batches):
    schedule(optimizer, i)
    model(x).sum().backward()
    optimizer.step()
