# Changed: The class comes from a table, and is given the parameters of two models together.

import itertools
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

G, D, E = DDP(generator), DDP(first), DDP(second)
make = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[args.optimizer]
opt_g = make(G.parameters(), lr=0.1)
opt_d = make(itertools.chain(D.parameters(), E.parameters()), lr=0.1)
loss.backward()
