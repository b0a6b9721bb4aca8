# Reported: only some of the parameters: the others are each rank's own, and Horovod would average them

import torch
import torch.distributed as dist

def average_gradients(model):
    size = float(dist.get_world_size())
    for param in model.parameters():
        if param.dim() > 1:
            dist.all_reduce(param.grad.data, op=dist.ReduceOp.SUM)
            param.grad.data /= size

loss.backward()
average_gradients(model)
optimizer.step()
