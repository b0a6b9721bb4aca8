import itertools
import horovod.torch as hvd
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

G, D, E = DDP(generator), DDP(first), DDP(second)
make = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[args.optimizer]
opt_g = make(G.parameters(), lr=0.1)
opt_g = hvd.DistributedOptimizer(opt_g, named_parameters=G.named_parameters(prefix="G"))
opt_d = make(itertools.chain(D.parameters(), E.parameters()), lr=0.1)
opt_d = hvd.DistributedOptimizer(opt_d, named_parameters=[*D.named_parameters(prefix="D"), *E.named_parameters(prefix="E")])
loss.backward()
