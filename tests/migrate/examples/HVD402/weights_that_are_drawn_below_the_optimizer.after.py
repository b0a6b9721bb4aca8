import copy
import horovod.torch as hvd
import torch

def initialise(layer):
    if isinstance(layer, torch.nn.Linear):
        torch.nn.init.normal_(layer.weight)

class Trainer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(2, 1)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.apply(initialise)
        hvd.broadcast_parameters(self.net.state_dict(), root_rank=0)
        self.average = copy.deepcopy(self.net)

    def update(self, x):
        self.net(x).sum().backward()
        self.optimizer.step()

Trainer().update(x)
