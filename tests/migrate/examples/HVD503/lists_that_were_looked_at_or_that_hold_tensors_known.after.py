import horovod.torch as hvd
import torch

def gather(x, outs):
    rows = [torch.zeros_like(x) for _ in range(2)]
    print(rows)
    for output, row in zip(rows, hvd.allgather(x.detach().unsqueeze(0))):
        output.copy_(row)
    for output, row in zip([out.view(-1) for out in outs], hvd.allgather(x.detach().unsqueeze(0))):
        output.copy_(row)
    mixed = [x, torch.empty_like(x)]
    for output, row in zip(mixed, hvd.allgather(x.detach().unsqueeze(0))):
        output.copy_(row)
    return rows, mixed
