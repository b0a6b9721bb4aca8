# Kept: frozen parameters get no gradients, and their hooks do not run

import torch

def discriminate(D, optimizer, real, fake):
    optimizer.zero_grad()
    (D(fake).mean() - D(real).mean()).backward()
    optimizer.step()

def generate(G, D, optimizer):
    D.requires_grad_(False)
    optimizer.zero_grad()
    (-D(G(noise())).mean()).backward()
    optimizer.step()
    D.requires_grad_(True)

G, D = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
opt_g = torch.optim.Adam(G.parameters())
opt_d = torch.optim.Adam(D.parameters())
for real in batches:
    discriminate(D, opt_d, real, G(noise()).detach())
    generate(G, D, opt_g)
