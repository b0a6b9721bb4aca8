# Kept: the offset stays at the first parameter; HVD904 refuses it

import torch
import torch.distributed as dist

agent = torch.nn.Linear(2, 1)
optimizer = torch.optim.Adam(agent.parameters())
for x in batches:
    agent(x).sum().backward()
    flat = torch.cat([param.grad.view(-1) for param in agent.parameters()])
    dist.all_reduce(flat, op=dist.ReduceOp.SUM)
    offset = 0
    for param in agent.parameters():
        param.grad.copy_(flat[offset : offset + param.numel()].view_as(param) / dist.get_world_size())
    optimizer.step()
