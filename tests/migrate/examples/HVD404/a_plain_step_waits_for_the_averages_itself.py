# Kept: a plain step() waits for the averages itself, whichever optimizer steps

import torch
from somewhere import registry

class Trainer:
    def epoch(self, model, optimizer, batches):
        for x in batches:
            model(x).sum().backward()
            optimizer.step()

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
registry["trainer"]().epoch(model, optimizer, batches)
