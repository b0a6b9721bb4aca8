# Kept: nothing runs in this file: a script beside it may import it

import torch

SCALE = torch.ones(1)

class Scaler:
    def update(self, loss, optimizer):
        (loss * SCALE).backward()
        optimizer.step()
