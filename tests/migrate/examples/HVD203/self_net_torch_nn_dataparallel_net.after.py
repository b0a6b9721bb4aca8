import torch

class Trainer:
    def wrap(self, net):
        self.net = net
        return net

torch.ones(1).backward()
optimizer.step()
