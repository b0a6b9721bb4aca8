import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Detector(torch.nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def on_all_ranks(self, wrap):
        self.net = wrap(self.net)

def wrap(part):
    return DDP(part)

def restore(model, path):
    state = torch.load(path)
    model.load_state_dict({name.replace(".module.", "."): value for name, value in state["model"].items()})

model = Detector(net)
model.on_all_ranks(wrap)
restore(model, "model.pt")
model(x).sum().backward()
optimizer.step()
