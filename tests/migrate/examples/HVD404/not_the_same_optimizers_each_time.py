# Reported: not the same optimizers each time: the second backward pass runs hooks of the first

import torch

def train(optimizers, loss):
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()

G, D = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
opt_g = torch.optim.Adam(G.parameters())
opt_d = torch.optim.Adam(D.parameters())
train([opt_d], D(G(x).detach()).sum())
train([opt_g], D(G(x)).sum())
