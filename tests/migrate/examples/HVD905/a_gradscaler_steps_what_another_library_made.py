# Reported: a GradScaler steps what another library made: of two networks one would be trained apart

import torch
from somewhere import make_optimizer
from torch.nn.parallel import DistributedDataParallel as DDP

G, D = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
G, D = DDP(G), DDP(torch.nn.Sequential(torch.nn.Embedding(9, 2, sparse=True), D))
opt_g, opt_d = torch.optim.Adam(G.parameters()), make_optimizer(D)
scaler = torch.cuda.amp.GradScaler()
for x in batches:
    scaler.scale(D(G(x).detach()).sum()).backward()
    scaler.step(opt_d)
    scaler.scale(D(G(x)).sum()).backward()
    scaler.step(opt_g)
    scaler.update()
