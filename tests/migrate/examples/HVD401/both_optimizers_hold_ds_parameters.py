# Reported: both optimizers hold D's parameters: the hooks of both would reduce each of its gradients

import itertools
import torch

G, D = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
opt_d = torch.optim.Adam(D.parameters())
opt_info = torch.optim.Adam(itertools.chain(G.parameters(), D.parameters()))
for x in batches:
    D(x).sum().backward()
    opt_d.step()
    D(G(x)).sum().backward()
    opt_info.step()
