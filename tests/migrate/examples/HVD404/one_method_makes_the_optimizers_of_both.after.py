import torch

class Solver:
    def make(self, kind, parameters, rate):
        if kind == "adam":
            optimizer = torch.optim.Adam(parameters, rate)
        else:
            optimizer = torch.optim.SGD(parameters, rate)
        return optimizer

class Gan(Solver):
    def __init__(self):
        self.G, self.D = Generator(), Discriminator()
        self.opt_g = self.make("adam", self.G.parameters(), 0.1)
        self.opt_d = self.make("sgd", self.D.parameters(), 0.1)

    def train(self, real):
        self.opt_d.zero_grad()
        (self.D(self.G(noise()).detach()) - self.D(real)).mean().backward()
        self.opt_d.synchronize()
        with self.opt_d.skip_synchronize():
            self.opt_d.step()
        self.opt_g.zero_grad()
        (-self.D(self.G(noise()))).mean().backward()
        self.opt_d.synchronize()
        self.opt_g.step()
