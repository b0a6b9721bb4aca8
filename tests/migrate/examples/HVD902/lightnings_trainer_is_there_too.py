# Reported: Lightning's Trainer is there, too

import pytorch_lightning as pl
import torch

class Codes(pl.LightningModule):
    pass

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in batches:
    model(Codes()(x)).sum().backward()
    optimizer.step()
pl.Trainer().fit(Codes(), batches)
