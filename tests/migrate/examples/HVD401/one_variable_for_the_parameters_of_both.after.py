import horovod.torch as hvd
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
        self.first = hvd.DistributedOptimizer(self.first, named_parameters=[(f"first.{i}", p) for i, p in enumerate(p for group in self.first.param_groups for p in group["params"])])
        params = list(self.judge.parameters())
        self.second = torch.optim.Adam(params)
        self.second = hvd.DistributedOptimizer(self.second, named_parameters=self.judge.named_parameters(prefix="judge"))

    def train(self, x):
        self.judge(self.net(x)).sum().backward()
