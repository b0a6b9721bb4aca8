# Reported: which model it is, its name says when the script runs

import torch

class Model:
    def __init__(self):
        self.netG = torch.nn.DataParallel(torch.nn.Linear(2, 1))
        self.netG(x).sum().backward()
        optimizer.step()

    def save(self, name):
        net = getattr(self, "net" + name)
        torch.save(net.module.state_dict(), "net.pt")
