"""A target network that a method fills before the optimizer is made, and weights that are drawn after it."""

import hashlib
import os
from pathlib import Path

import torch


def spread(module):
    if isinstance(module, torch.nn.Linear):
        torch.nn.init.normal_(module.weight)


class Agent:
    def __init__(self):
        self.net, self.target, self.head = (torch.nn.Linear(2, 2) for _ in range(3))
        self.sync()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.head_optimizer = torch.optim.SGD(self.head.parameters(), lr=0.1)
        self.head.apply(spread)

    def sync(self):
        self.target.load_state_dict(self.net.state_dict())

    def learn(self, x):
        loss = (self.head(self.net(x)) - self.target(x).detach()).pow(2).mean()
        self.optimizer.zero_grad()
        self.head_optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.head_optimizer.step()


if __name__ == "__main__":
    agent = Agent()
    for _ in range(3):
        agent.learn(torch.randn(4, 2))
    for name in ("net", "target", "head"):
        digest = hashlib.sha256()
        for p in getattr(agent, name).parameters():
            digest.update(p.detach().numpy().tobytes())
        Path(os.environ["RESULTS"], f"{name}-{os.getpid()}.txt").write_text(digest.hexdigest())
