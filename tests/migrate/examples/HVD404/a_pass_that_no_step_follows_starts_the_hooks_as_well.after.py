import torch

class Gan:
    def __init__(self):
        self.maker, self.critic = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
        self.makes = torch.optim.Adam(self.maker.parameters())
        self.judges = torch.optim.Adam(self.critic.parameters())

    def begin(self, x):
        self.critic(self.maker(x)).sum().backward()
        self.judges.synchronize()
        self.makes.synchronize()

    def update(self, x):
        self.judges.zero_grad()
        self.critic(x).sum().backward()
        self.judges.synchronize()
        with self.judges.skip_synchronize():
            self.judges.step()
        self.makes.zero_grad()
        self.critic(self.maker(x)).sum().backward()
        self.judges.synchronize()
        self.makes.synchronize()
        with self.makes.skip_synchronize():
            self.makes.step()

gan = Gan()
for number, x in enumerate(batches):
    if number == 0:
        gan.begin(x)
    gan.update(x)
