# Changed.

import torch

G, D = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
opt_g = torch.optim.Adam(G.parameters())
opt_d = torch.optim.Adam(D.parameters())
for real in batches:
    fake = G(noise())
    opt_d.zero_grad()
    loss_d = D(fake.detach()).mean() - D(real).mean()
    loss_d.backward()
    opt_d.step()
    opt_g.zero_grad()
    loss_g = -D(fake).mean()
    loss_g.backward()
    opt_g.step()
