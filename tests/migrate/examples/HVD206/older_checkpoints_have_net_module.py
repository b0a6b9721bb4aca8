# Reported: older checkpoints have net.module. in their names, and nothing would tell

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Detector(torch.nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = DDP(net)

def restore(model, path):
    model.load_state_dict(torch.load(path), strict=False)

restore(Detector(net), "model.pt")
loss.backward()
