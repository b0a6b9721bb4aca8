# Changed: Settings with an lr are no group of an optimizer: nobody asks that for its rate here.
# Options: --suggested

import torch

class Trainer:
    def __init__(self, settings):
        self.settings = settings
        self.optimizer = torch.optim.SGD(model.parameters(), lr=settings["optim"]["lr"])
        rate = self.settings["lr"]
        self.schedule = torch.optim.lr_scheduler.OneCycleLR(self.optimizer, rate, total_steps=9)

trainer = Trainer(load())
loss.backward()
trainer.optimizer.step()
