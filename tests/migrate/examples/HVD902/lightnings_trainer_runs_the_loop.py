# Reported: Lightning's Trainer runs the loop

import pytorch_lightning as pl
import torch

class Net(pl.LightningModule):
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
