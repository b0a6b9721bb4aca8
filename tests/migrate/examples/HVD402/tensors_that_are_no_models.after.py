import horovod.torch as hvd
import torch

noise = torch.randn(3, requires_grad=True)
target = image.clone().requires_grad_(True)
optimizer = torch.optim.Adam([target, noise], lr=0.1)
hvd.broadcast_parameters([("target", target), ("noise", noise)], root_rank=0)
loss(target + noise).backward()
optimizer.step()
