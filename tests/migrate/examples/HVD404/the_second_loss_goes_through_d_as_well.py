# Reported: the second loss goes through D as well, which the function cannot tell

import torch

def train(loss, optimizer):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

G, D = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
opt_g = torch.optim.Adam(G.parameters())
opt_d = torch.optim.Adam(D.parameters())
train(D(G(x).detach()).sum(), opt_d)
train(D(G(x)).sum(), opt_g)
