# Changed.

import torch

class Trainer:
    def wrap(self, net):
        self.net = torch.nn.DataParallel(net)
        return torch.nn.DataParallel(net)

torch.ones(1).backward()
optimizer.step()
