# Reported: there may be no encoder, and weights are drawn below the optimizer

import torch

def initialise(layer):
    torch.nn.init.normal_(layer.weight)

def main(vae):
    net = torch.nn.Linear(2, 1)
    rest = list(net.parameters())
    if vae:
        encoder = torch.nn.Linear(2, 2)
        rest += list(encoder.parameters())
    optimizer = torch.optim.SGD(rest, lr=0.1)
    net.apply(initialise)
    net(x).sum().backward()
    optimizer.step()

main(True)
