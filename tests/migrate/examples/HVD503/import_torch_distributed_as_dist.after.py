import horovod.torch as hvd
import torch

def everyone(predictions, size):
    gathered = [torch.zeros_like(predictions) for _ in range(size)]
    gathered[:] = hvd.allgather(predictions.detach().unsqueeze(0)).unbind(0)
    return torch.cat(gathered)
