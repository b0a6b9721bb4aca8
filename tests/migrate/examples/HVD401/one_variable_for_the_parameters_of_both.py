# Changed: One variable for the parameters of both, and a model that is there under a test only.

import torch

class Trainer:
    def __init__(self, encode):
        self.net, self.judge = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
        if encode:
            self.encoder = torch.nn.Linear(2, 2)
        params = list(self.net.parameters())
        if encode:
            params += list(self.encoder.parameters())
        self.first = torch.optim.Adam(params)
        params = list(self.judge.parameters())
        self.second = torch.optim.Adam(params)

    def train(self, x):
        self.judge(self.net(x)).sum().backward()
