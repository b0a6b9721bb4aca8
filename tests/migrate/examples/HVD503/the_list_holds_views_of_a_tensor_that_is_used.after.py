import horovod.torch as hvd
import torch

@torch.no_grad()
def everyone(part, whole):
    parts = list(whole.unbind(0))
    for output, row in zip(parts, hvd.allgather(part.unsqueeze(0))):
        output.copy_(row)
    return whole
