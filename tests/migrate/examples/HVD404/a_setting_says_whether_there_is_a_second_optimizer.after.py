import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Trainer:
    def __init__(self, config):
        self.config = config
        self.net = DDP(torch.nn.Linear(2, 2))
        self.opt = torch.optim.Adam(self.net.parameters())
        if not self.config["alone"]:
            self.judge = DDP(torch.nn.Linear(2, 1))
            self.opt_judge = torch.optim.Adam(self.judge.parameters())

    def step(self, x):
        made = self.net(x)
        loss = made.sum()
        if not self.config["alone"]:
            loss = loss + self.judge(made).sum()
        self.opt.zero_grad()
        loss.backward()
        if not self.config["alone"]:
            self.opt_judge.synchronize()
        self.opt.step()
        if not self.config["alone"]:
            self.opt_judge.zero_grad()
            self.judge(made.detach()).sum().backward()
            self.opt_judge.synchronize()
            with self.opt_judge.skip_synchronize():
                self.opt_judge.step()
