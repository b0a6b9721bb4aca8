import horovod.torch as hvd
import torch

class Trainer:
    def __init__(self, settings):
        self.settings = settings
        self.optimizer = torch.optim.SGD(model.parameters(), lr=settings["optim"]["lr"] * hvd.size())
        rate = self.settings["lr"]
        self.schedule = torch.optim.lr_scheduler.OneCycleLR(self.optimizer, rate * hvd.size(), total_steps=9)

trainer = Trainer(load())
loss.backward()
trainer.optimizer.step()
