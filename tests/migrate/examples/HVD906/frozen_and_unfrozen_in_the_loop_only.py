# Kept: frozen and unfrozen in the loop only, as GANs do: the hooks are there by then

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def grads(net, on):
    for p in net.parameters():
        p.requires_grad = on

critic = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
for batch in range(3):
    grads(critic, False)
    grads(critic, True)
    critic(x).sum().backward()
