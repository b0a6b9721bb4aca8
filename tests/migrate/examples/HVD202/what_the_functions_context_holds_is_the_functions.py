# Kept: what the function's context holds is the function's own

import torch
from torch.nn.parallel import DistributedDataParallel

class Balance(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, module):
        ctx.module = module
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.module.scale, None

torch.distributed.init_process_group("nccl")
model = DistributedDataParallel(torch.nn.Linear(2, 1))
Balance.apply(model(x), scales).sum().backward()
