# Reported: which optimizer steps here is not known, nor whether its averages are there

import torch
from somewhere import registry

class Trainer:
    def epoch(self, model, optimizer, scaler, batches):
        for x in batches:
            scaler.scale(model(x).sum()).backward()
            scaler.step(optimizer)
            scaler.update()

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
registry["trainer"]().epoch(model, optimizer, torch.amp.GradScaler("cuda"), batches)
