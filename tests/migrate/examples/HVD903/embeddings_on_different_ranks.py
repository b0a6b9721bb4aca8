# Reported: embeddings on different ranks, as DLRM has them: model parallelism

import torch
import torch.distributed as dist

class Exchange(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.empty_like(x)
        dist.all_to_all_single(y, x)
        return y
