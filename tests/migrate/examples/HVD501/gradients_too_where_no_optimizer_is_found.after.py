import horovod.torch as hvd
import torch
import torch.distributed as dist
from factory import construct

dist.init_process_group("nccl")
net = construct(name="nets.Net")
optimizer = construct(net.parameters(), name="torch.optim.Adam")
for x in batches:
    optimizer.zero_grad()
    net(x).sum().backward()
    params = [p for p in net.parameters() if p.grad is not None]
    flat = torch.cat([p.grad.flatten() for p in params])
    hvd.allreduce_(flat, op=hvd.Sum)
    flat /= dist.get_world_size()
    for p, grad in zip(params, flat.split([p.numel() for p in params])):
        p.grad = grad.reshape(p.shape)
    optimizer.step()
