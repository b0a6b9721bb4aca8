# Changed: A trainer is of one class or of the other: only in the first one do both backward passes meet.

import torch

class Paired:
    def __init__(self):
        self.G, self.D = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
        self.opt_g = torch.optim.Adam(self.G.parameters())
        self.opt_d = torch.optim.Adam(self.D.parameters())

    def judge(self, x):
        self.opt_d.zero_grad()
        self.loss = self.D(self.G(x).detach()).mean()
        self.loss.backward()
        self.opt_d.step()

    def draw(self, x):
        self.opt_g.zero_grad()
        self.loss = -self.D(self.G(x)).mean()
        self.loss.backward()
        self.opt_g.step()

class Alone:
    def __init__(self):
        self.G, self.D = torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)
        self.opt_g = torch.optim.SGD(self.G.parameters(), lr=0.1)
        self.opt_d = torch.optim.SGD(self.D.parameters(), lr=0.1)

    def judge(self, x):
        self.opt_d.zero_grad()
        self.D(self.G(x).detach()).mean().backward()
        self.opt_d.step()

    def draw(self, x):
        self.opt_g.zero_grad()
        (-self.G(x)).mean().backward()
        self.opt_g.step()

trainer = Paired() if paired else Alone()
for x in batches:
    trainer.judge(x)
    trainer.draw(x)
