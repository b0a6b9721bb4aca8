# Changed: There may be no encoder: what the optimizer holds is sent.

import torch

def main(vae):
    net = torch.nn.Linear(2, 1)
    rest = list(net.parameters())
    if vae:
        encoder = torch.nn.Linear(2, 2)
        rest += list(encoder.parameters())
    optimizer = torch.optim.SGD(rest, lr=0.1)
    net(x).sum().backward()
    optimizer.step()

main(True)
