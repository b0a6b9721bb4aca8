import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def save(net):
    torch.save(net.state_dict(), "net.pt")

wrapped = DDP(torch.nn.Linear(2, 1))
save(wrapped)
