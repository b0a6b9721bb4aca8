# Changed: The backward pass stands in a class that is only named in a configuration.

import torch
from factory import batches, construct, options
from torch.nn.parallel import DistributedDataParallel as DDP

def train(options, batches):
    G, D = construct(**options.G), construct(**options.D)
    parts = {}
    for name, net in [("mapping", G.mapping), ("synthesis", G.synthesis), ("D", D)]:
        parts[name] = DDP(net)
    loss = construct(**parts, **options.loss)
    phases = []
    for net in [G, D]:
        opt = construct(net.parameters(), **options.optimizer)
        phases += [dict_of(net=net, opt=opt)]
    for batch in batches:
        for phase in phases:
            phase.opt.zero_grad()
            loss.accumulate(phase, batch)
            phase.opt.step()

train(options, batches)
