import horovod.torch as hvd
import torch

def gather(x, outputs, row):
    output = row
    with torch.no_grad():
        for output_, row_ in zip(outputs, hvd.allgather(x.unsqueeze(0))):
            output_.copy_(row_)
    return output
