# Changed: Laid end to end, and cut at an offset that moves behind each.

import torch
import torch.distributed as dist

agent = torch.nn.Linear(2, 1)
optimizer = torch.optim.Adam(agent.parameters())
for x in batches:
    optimizer.zero_grad()
    agent(x).sum().backward()
    if dist.get_world_size() > 1:
        grads = []
        for param in agent.parameters():
            if param.grad is not None:
                grads.append(param.grad.view(-1))
        flat = torch.cat(grads)
        dist.all_reduce(flat, op=dist.ReduceOp.SUM)
        offset = 0
        for param in agent.parameters():
            if param.grad is not None:
                part = flat[offset : offset + param.numel()].view_as(param.grad.data)
                param.grad.data.copy_(part / dist.get_world_size())
                offset += param.numel()
    optimizer.step()
