# Reported: the only backward pass is the module's own, which Lightning's Trainer may call

import pytorch_lightning as pl
import torch

class Net(pl.LightningModule):
    def training_step(self, x, index):
        loss = self(x).sum()
        loss.backward()
        return loss

for x in batches:
    Net().training_step(x, 0)
