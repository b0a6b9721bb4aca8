# Kept: what one call of the helper wraps is frozen, and what another one wraps is trained

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Features(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Linear(2, 2)
        for p in self.layers.parameters():
            p.requires_grad = False

class Critic(torch.nn.Module):
    pass

def to_device(net):
    net = net.cuda()
    net = DDP(net)
    return net

features = to_device(Features())
critic = to_device(Critic())
optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
for batch in range(3):
    for p in critic.parameters():
        p.requires_grad = True
    critic(x).sum().backward()
    optimizer.step()
