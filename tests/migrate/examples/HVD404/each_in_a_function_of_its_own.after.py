import torch

class Nets:
    def __init__(self):
        self.G, self.D = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)

    def optimizers(self):
        return torch.optim.Adam(self.G.parameters()), torch.optim.Adam(self.D.parameters())

class Trainer:
    def __init__(self):
        self.nets = Nets()
        self.opt_g, self.opt_d = self.nets.optimizers()

    def generate(self, real):
        self.opt_g.zero_grad()
        (-self.nets.D(self.nets.G(noise())).mean()).backward()
        self.opt_d.synchronize()
        self.opt_g.step()

    def discriminate(self, real):
        self.opt_d.zero_grad()
        self.nets.D(real).mean().backward()
        self.opt_d.synchronize()
        with self.opt_d.skip_synchronize():
            self.opt_d.step()

trainer = Trainer()
for real in batches:
    trainer.generate(real)
    trainer.discriminate(real)
