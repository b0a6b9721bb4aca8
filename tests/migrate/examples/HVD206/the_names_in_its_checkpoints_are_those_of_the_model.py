# Kept: the names in its checkpoints are those of the model without the wrapper
# Options: --suggested

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Trainer:
    def __init__(self, model):
        self.model = model
        self.model.load_state_dict(torch.load("last.pt"))
        self.model = DDP(self.model)

    def train(self, x):
        self.model(x).sum().backward()
        optimizer.step()

trainer = Trainer(net)
trainer.train(x)
torch.save(trainer.model.module.net.state_dict(), "last.pt")
