import horovod.torch as hvd
import torch

def main():
    device = torch.device(f"cuda:{hvd.local_rank()}")
    torch.cuda.set_device(device)
    model(x).sum().backward()
    optimizer.step()
